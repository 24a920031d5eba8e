import { chmodSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { objectAt } from '../src/tools/json-value.js'
import type { Script } from './model-server/script.js'
import { until } from './skein.js'
import { claude } from './tools/claude.js'
import { codex } from './tools/codex.js'
import type { RealTool } from './tools/real-tool.js'
import { User } from './user.js'

const PROGRAM = fileURLToPath(new URL('../bin/skein.js', import.meta.url))
const MESSAGE = 'The lexer is done, the parser is next.'
/** How each program is started so that it runs commands without asking. */
const FREELY: Readonly<Record<string, readonly string[]>> = {
  claude: ['--arg=--allowedTools', '--arg=Bash'],
  codex: ['--dangerous'],
}
const SCRIPT: Script = {
  rules: [
    {
      when: /^hand off now/,
      steps: [{ do: [{ run: `./skein handoff -s Parser -m "${MESSAGE}"` }] }, { text: 'Handed off.' }],
    },
    { when: /^cycle now/, steps: [{ do: [{ run: './skein handoff --cycle' }] }, { text: 'Cycled.' }] },
    { when: /^be done now/, steps: [{ do: [{ run: './skein done' }] }, { text: 'Done.' }] },
    { when: /.*/, steps: [{ text: 'Gladly.' }] },
  ],
}

/** A user whose agent is idle, has answered one prompt, and has a unit of work on its hook. */
async function atWork(tool: RealTool) {
  const user = await User.of([tool], { script: SCRIPT })
  const { skein, scratch } = user
  scratch.write('project/skein', `#!/bin/sh\nexec '${process.execPath}' '${PROGRAM}' "$@"\n`)
  chmodSync(scratch.path('project/skein'), 0o755)
  const session = await user.agentAtWork('worker', tool, { options: FREELY[tool.name] ?? [] })
  const added = await skein.run('work', 'add', 'Mend the login')
  const work = String(objectAt(added, 'work')?.id ?? added.id)
  await skein.run('work', 'hook', work, 'worker')
  return Object.assign(user, { session, work, pid: (await skein.agent('worker')).pid })
}

describe.each([claude, codex])('in the middle of a turn, $name $version itself runs', (tool) => {
  it('skein handoff: its successor starts once, with the message and the work', async () => {
    await using user = await atWork(tool)
    const { skein, server, scratch, session, work } = user
    const before = server.requests.length
    await skein.run('send', 'worker', 'hand off now')
    const ofSuccessor = () =>
      server.requests.slice(before).filter(({ prompts }) => !prompts.join('\n').includes('hand off now'))
    await until('the successor asks the model', () => ofSuccessor().length > 0, 60_000)
    const listed = await skein.listed('worker', { waiting_for: 'finished' }, 60_000)
    const [first] = ofSuccessor()
    expect(first?.read).toContain(MESSAGE)
    expect(first?.read).toContain('Mend the login')
    expect(ofSuccessor()).toHaveLength(1) // one prompt, one answer
    expect(listed.pid).not.toBe(user.pid)
    expect((await user.chainOf(session)).map(({ id, link, outcome }) => ({ id, link, outcome }))).toEqual([
      { id: session, outcome: 'handoff' },
      { id: listed.session_id, link: 'handoff' },
    ])
    const file = JSON.parse(readFileSync(scratch.path(`skein/profiles/default/agents/${listed.id}.json`), 'utf8'))
    expect(file.handoff).toBeUndefined()
    expect(await skein.run('work', 'show', work)).toMatchObject({ status: 'hooked', agent: 'worker' })
  })

  it('skein handoff --cycle: the same conversation goes on in a new process', async () => {
    await using user = await atWork(tool)
    const { skein, server, session } = user
    await skein.run('send', 'worker', 'cycle now')
    await until('it runs in another process', async () => (await skein.agent('worker')).pid !== user.pid, 60_000)
    await skein.listed('worker', { status: 'idle', session_id: session }, 60_000)
    await skein.run('send', 'worker', 'again', '--wait', '--timeout', '110s')
    const prompts = server.requests.at(-1)?.prompts ?? []
    expect(prompts).toEqual(expect.arrayContaining(['hello', 'again']))
    expect(prompts.filter((text) => text === 'cycle now')).toHaveLength(1)
  })

  it('skein done: its work is done, its session has ended so, and it stops', async () => {
    await using user = await atWork(tool)
    const { skein, session, work } = user
    await skein.run('send', 'worker', 'be done now')
    await skein.listed('worker', { status: 'stopped' }, 60_000)
    expect(await skein.run('sessions', 'show', session)).toMatchObject({ outcome: 'done' })
    expect(await skein.run('work', 'show', work)).toMatchObject({ status: 'done' })
  })
})

it('typed by the user in the shell mode of Claude Code, skein handoff starts the successor once', async () => {
  await using user = await atWork(claude)
  const { skein, server, session } = user
  const before = server.requests.length
  await skein.run('keys', 'worker', '!')
  await skein.types('worker', './skein handoff')
  await until('the successor asks the model', () => server.requests.length > before, 60_000)
  const { session_id } = await skein.listed('worker', { waiting_for: 'finished' }, 60_000)
  expect(session_id).not.toBe(session)
  expect(server.requests.slice(before)).toHaveLength(1)
  expect((await user.chainOf(session)).map(({ outcome }) => outcome)).toEqual(['handoff', undefined])
})
