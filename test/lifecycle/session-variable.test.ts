import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { parseCustomTools, RUNNERS, runnersFor } from '../../src/tools/index.js'
import { scratch } from '../home/scratch.js'
import { eventually, workshop } from './workshop.js'

const PROGRAM = fileURLToPath(new URL('../workers/muse-program.mjs', import.meta.url))

/** A shop whose tool is told the id of its session, and keeps its log under it. */
async function museShop() {
  const root = scratch()
  const logs = join(root, '.muse')
  const keys = {
    command: [process.execPath, PROGRAM, logs],
    idle_patterns: ['ready', 'done'],
    session_id_env: 'MUSE_SESSION',
    log_glob: `${logs}/**/*.jsonl`,
    log_role: '.message.role',
    log_text: '.message.content',
    log_time: '.ts',
    log_session: '.session',
  }
  const toml = Object.entries(keys).map(([key, value]) => `${key} = ${JSON.stringify(value)}`)
  writeFileSync(join(root, 'config.toml'), `[tools.muse]\n${toml.join('\n')}\n`)
  const builtIn = RUNNERS.map(({ name }) => name)
  const custom = parseCustomTools({ muse: keys }, join(root, 'config.toml'), builtIn)
  return workshop({ root, runners: runnersFor({ custom, patterns: [] }).all, described: ['muse'] })
}

it('session_id_env is in the tmux session too, and follows the agent into another session', async () => {
  const { agents, project, tmux } = await museShop()
  const started = await agents.start({ agent: 'toast', cwd: project, tool: 'muse' })
  const inTmux = (): string => tmux('show-environment', '-t', started.agent.tmux_session ?? '', 'MUSE_SESSION').trim()
  expect(started.agent.session_id).toMatch(/^[0-9a-f-]{36}$/)
  expect(inTmux()).toBe(`MUSE_SESSION=${started.agent.session_id}`)
  const again = await agents.restart('toast')
  expect(again.agent.session_id).not.toBe(started.agent.session_id)
  expect(inTmux()).toBe(`MUSE_SESSION=${again.agent.session_id}`)
})

it('output and the turns of an agent come from the log that its tool describes', async () => {
  const { agents, home, project } = await museShop()
  const { agent } = await agents.start({ agent: 'toast', cwd: project, tool: 'muse' })
  await eventually(
    () => agents.why('toast'),
    ({ agent: { status } }) => status === 'idle',
  )
  await agents.send('toast', 'good morning')
  const output = await eventually(
    () => agents.output('toast'),
    ({ from }) => from === 'log',
  )
  expect(output).toMatchObject({ text: 'You said good morning.', from: 'log' })
  await home.history.ingest()
  expect((await home.history.turns(agent.session_id ?? '')).turns).toMatchObject([{ prompt: 'good morning' }])
  expect((await home.history.search({ text: 'morning' })).hits.length).toBeGreaterThan(0)
})

it('a program that neither takes nor tells an id has the one of its session in its environment, also as a successor', async () => {
  const root = scratch()
  const seen = join(root, 'seen')
  const command = ['/bin/sh', '-c', `echo "$SKEIN_SESSION $GT_SESSION_UUID" >> ${seen}; echo ready; exec cat`]
  writeFileSync(
    join(root, 'config.toml'),
    `[tools.plain]\ncommand = ${JSON.stringify(command)}\nidle_patterns = ["ready"]\n[roles]\npreset = "gastown"\nroot = "${root}"\n[roles.crew]\nbeacon = false\n`,
  )
  const custom = parseCustomTools({ plain: { command, idle_patterns: ['ready'] } }, '', [])
  const { agents, project } = await workshop({ root, runners: runnersFor({ custom, patterns: [] }).all })
  const { agent } = await agents.start({ agent: 'mayor', role: 'mayor', cwd: project, tool: 'plain' })
  const lines = () =>
    eventually(
      () => readFileSync(seen, 'utf8').trim().split('\n'),
      (all) => all.length > 0,
    )
  expect(agent.session_id).toMatch(/^[0-9a-f-]{36}$/)
  expect(await lines()).toEqual([`${agent.session_id} ${agent.session_id}`])
  const { to } = await agents.handoff({ agent: 'mayor', message: 'go on' })
  expect(to).not.toBe(agent.session_id)
  expect((await lines()).at(-1)).toBe(`${to} ${to}`)
})
