import { cpSync, existsSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { isObject, type JsonObject, listAt } from '../src/tools/json-value.js'
import { Pane } from './pane.js'
import { Skein, until } from './skein.js'
import { REAL_TOOLS } from './tools/index.js'
import type { RealTool } from './tools/real-tool.js'
import { User } from './user.js'

const REPOSITORY = fileURLToPath(new URL('..', import.meta.url))
const AGENT = 'web/worker'

/** Those whose session begins with the program. Gemini CLI sends a prompt that is typed before its hook has answered without the answer. */
const BEGINS_UNASKED: readonly string[] = ['claude', 'gemini', 'pi']
/** How a user leaves each program. */
const QUIT: Readonly<Record<string, string>> = { claude: '/exit', opencode: '/exit' }

const startByHand = (tool: RealTool, { scratch, env }: User, name: string): Pane =>
  new Pane(scratch, { argv: tool.argv, env: { ...env, SKEIN_AGENT: AGENT }, name })

async function sessionsOf(skein: Skein): Promise<JsonObject[]> {
  await skein.run('list') // takes in what hooks have reported
  return listAt(await skein.run('sessions', 'list'), 'sessions').filter(isObject)
}

describe.each(REAL_TOOLS)('hooks of Skein in the settings of $name $version, which its user starts', (tool) => {
  it('record the session, give it its context, and leave no trace once Skein is gone or they are uninstalled', async () => {
    await using user = await User.of([tool])
    const { scratch, server } = user
    // An installation of its own, which is removed before the end.
    const skein = new Skein(scratch, user.env, scratch.path('installation/bin/skein.js'))
    for (const part of ['bin', 'dist', 'package.json'])
      cpSync(`${REPOSITORY}${part}`, scratch.path('installation', part), { recursive: true })
    symlinkSync(`${REPOSITORY}node_modules`, scratch.path('installation/node_modules'))
    await skein.run('group', 'create', 'web')
    await skein.run('spawn', '.', '--agent', AGENT, '--tool', tool.name)
    await skein.run('work', 'add', 'Mend the login', '--agent', AGENT)
    const [{ path = '' } = {}] = listAt(await skein.run('hooks', 'status', tool.name), 'hooks').filter(isObject) as {
      path?: string
    }[]
    const now = (): Buffer | undefined => (existsSync(path) ? readFileSync(path) : undefined)
    const before = now()
    await skein.run('hooks', 'install', tool.name)
    expect(now()).not.toEqual(before)
    await skein.run('hooks', 'uninstall', tool.name)
    expect(now()).toEqual(before)
    await skein.run('hooks', 'install', tool.name)

    const pane = startByHand(tool, user, 'first')
    if (tool.name === 'codex') {
      await pane.shows(/Hooks need review/) // it asks about hooks that it has not seen before
      pane.press('Down')
      await pane.shows(/› 2\. Trust all/)
      pane.press('Enter')
      await pane.until('they are trusted', () => !pane.text.includes('Hooks need review'))
    }
    await pane.shows(tool.ready)
    if (BEGINS_UNASKED.includes(tool.name)) {
      await until('the session is recorded', async () => (await sessionsOf(skein)).length === 1, 60_000)
    }
    await pane.submit('hello')
    await pane.shows(/Gladly\./)
    expect(server.requests[0]?.read).toContain(`Skein: You are the agent ${AGENT} (session: `)
    expect(server.requests[0]?.read).toContain('(hooked): Mend the login')
    const [session] = await sessionsOf(skein)
    expect(session).toMatchObject({ tool: tool.name, agent: AGENT, cwd: scratch.project })
    expect(session).not.toHaveProperty('outcome')
    expect(await skein.agent(AGENT)).toMatchObject({
      status: 'stopped',
      reason: expect.stringContaining('runs outside of Skein'),
    })
    await pane.submit(QUIT[tool.name] ?? '/quit')
    await pane.until('it has ended', () => pane.isDead)
    await until(
      'the session has ended',
      async () => (await sessionsOf(skein)).every(({ outcome }) => outcome === 'exit'),
      60_000,
    )
    expect(await skein.agent(AGENT)).not.toHaveProperty('reason')

    const { hooks } = await skein.run('hooks', 'status', tool.name)
    expect(hooks).toMatchObject([{ state: 'installed' }])
    rmSync(scratch.path('installation/dist'), { recursive: true })
    const broken = startByHand(tool, user, 'second')
    await broken.shows(tool.ready)
    await broken.submit('again')
    await broken.until('it answers', () => server.requests.length === 2)
    await broken.shows(/Gladly\./)
    expect(server.requests[1]?.read).not.toContain('Skein: ')
    expect(broken.text).not.toMatch(/hook.*(error|fail)|Cannot find module/i)

    cpSync(`${REPOSITORY}dist`, scratch.path('installation/dist'), { recursive: true })
    await skein.run('hooks', 'uninstall', tool.name)
    // Gemini CLI rewrites its settings by itself.
    if (tool.name !== 'gemini') expect(now()).toEqual(before)
    expect(now()?.toString() ?? '').not.toContain('skein')
  })
})
