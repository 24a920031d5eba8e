import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { commandWords, RUNNERS, runnersFor, toolOfCommand } from '../../src/tools/index.js'
import { fakeTool } from './fake-tool.js'
import { eventually, type Workshop, workshop } from './workshop.js'

const FAKE = fileURLToPath(new URL('../workers/fake-agent.mjs', import.meta.url))
const NAMES = ['claude', 'codex', 'gemini', 'opencode', 'pi', 'custom']

/** A program that writes down how it was called, and then is the fake agent. */
function wrapper({ root }: Workshop, name = 'my wrapper'): { path: string; calls: string } {
  const [path, calls] = [join(root, name), join(root, `${name}.calls`)]
  writeFileSync(path, `#!/bin/sh\nprintf '%s\\n' "$*" >> '${calls}'\nexec '${process.execPath}' '${FAKE}' "$@"\n`)
  chmodSync(path, 0o755)
  return { path, calls }
}

const callsIn = async (path: string): Promise<string[]> => {
  const { readFileSync } = await import('node:fs')
  return readFileSync(path, 'utf8').trim().split('\n')
}

describe('an agent’s own command', () => {
  it('is what start and restart run, with the tool’s arguments behind it', async () => {
    const shop = await workshop()
    const { agents, home, project } = shop
    const { path, calls } = wrapper(shop)
    const { session } = await agents.start({
      agent: 'a',
      cwd: project,
      tool: 'fake',
      command: `'${path}' --verbose "two words"`,
    })
    expect(await callsIn(calls)).toEqual([`--verbose two words --session-id ${session?.id}`])
    expect(await home.roster.agent('a')).toMatchObject({ tool: 'fake', command: `'${path}' --verbose "two words"` })
    await agents.restart('a')
    expect((await callsIn(calls)).at(-1)).toBe(`--verbose two words --resume ${session?.id}`)
  })

  it('that the roster was given before the first start is run, and one that is changed counts from the next start', async () => {
    const shop = await workshop()
    const { agents, home, project } = shop
    const [first, second] = [wrapper(shop, 'first'), wrapper(shop, 'second')]
    await home.roster.add({ address: 'a', tool: 'fake', project_path: project, command: `'${first.path}' -1` })
    await agents.start({ agent: 'a' })
    expect(await callsIn(first.calls)).toHaveLength(1)
    await home.roster.update('a', { command: `'${second.path}' -2` })
    await agents.restart('a')
    expect((await callsIn(second.calls))[0]).toMatch(/^-2 --resume /)
    expect(await callsIn(first.calls)).toHaveLength(1)
  })

  it('says by its program which tool it is', async () => {
    const shop = await workshop({ runners: [fakeTool(), ...runnersFor({ custom: [], patterns: [] }).all] })
    const { path } = wrapper(shop, 'fake')
    const { agent } = await shop.agents.start({ agent: 'a', cwd: shop.project, command: `env X=1 '${path}'` })
    expect(agent).toMatchObject({ tool: 'fake' })
  })

  it('of a program that is no tool runs as custom, as it was typed and without a shell', async () => {
    const shop = await workshop({ runners: runnersFor({ custom: [], patterns: [] }).all })
    const { agents, project } = shop
    const { agent } = await agents.start({ agent: 'a', cwd: project, command: "sh -c 'echo $((40 + 2)); sleep 60'" })
    expect(agent).toMatchObject({ tool: 'custom' })
    const { text } = await eventually(
      () => agents.output('a', { screen: true }),
      (output) => output.text.includes('42'),
    )
    expect(text).toContain('42')
  })

  it('whose program is not there is refused by that name, and nothing is made', async () => {
    const shop = await workshop()
    const start = shop.agents.start({ agent: 'a', cwd: shop.project, tool: 'fake', command: 'no-such-program --x' })
    await expect(start).rejects.toThrow('the program "no-such-program" of its command was not found')
    expect(await shop.home.roster.agents()).toEqual([])
  })

  it.each([
    ['claude "open', 'has an open quote'],
    ['   ', 'names no program'],
    ["'' --x", 'names no program'],
  ])('that cannot be understood is refused, and nothing is made: %s', async (command, what) => {
    const shop = await workshop()
    const start = shop.agents.start({ agent: 'a', cwd: shop.project, tool: 'fake', command })
    await expect(start).rejects.toThrow(what)
    expect(await shop.home.roster.agents()).toEqual([])
  })
})

describe('the tool of a command', () => {
  it.each([
    ['claude --verbose', 'claude'],
    ['/opt/bin/codex', 'codex'],
    ['env -u FOO BAR=1 gemini --x', 'gemini'],
    ['nice -n 5 nohup opencode', 'opencode'],
    ['npx -y @anthropic-ai/claude-code@2.1.0 --verbose', 'claude'],
    ['pnpm dlx @openai/codex', 'codex'],
    ['node --enable-source-maps /opt/pi.js', 'pi'],
    ['timeout -k 5 1h claude', 'claude'],
    ['direnv exec . codex', 'codex'],
    ['my-claude', undefined],
    ['env', undefined],
    ['sh -c claude', undefined],
    ['__proto__', undefined],
  ])('%s', (line, tool) => {
    expect(toolOfCommand(commandWords(line), NAMES)).toBe(tool)
  })

  it('every built-in runner puts it in place of its program, and its own arguments behind it', () => {
    const environment = { home: '/nowhere', env: {} }
    const spool = { directory: '/s', run: 'r', command: 'true' }
    for (const runner of RUNNERS) {
      const launch = {
        kind: 'new' as const,
        agent: 'a' as never,
        cwd: '/p',
        startedAt: '2026-01-01T00:00:00.000Z' as never,
      }
      const facts = { ...launch, directory: '/d', spool, environment, port: 1, secret: 's' }
      const [program, ...rest] = runner.prepare(facts).argv
      expect(program).toBe(runner.name)
      expect(runner.prepare({ ...facts, command: ['other', '--x'] }).argv).toEqual(['other', '--x', ...rest])
    }
  })
})
