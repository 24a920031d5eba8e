import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { scratch } from '../home/scratch.js'
import { eventually } from '../lifecycle/workshop.js'
import { BINARY } from './binary.js'

/** The built program, and an agent whose program runs one Skein command in its own pane, the first time it is started. */
function desk(typed: string) {
  const root = scratch()
  const home = join(root, 'home')
  for (const path of [home, join(root, 'shop')]) mkdirSync(path)
  const program = join(root, 'program.sh')
  const starts = join(root, 'starts')
  const said = join(root, 'said')
  writeFileSync(
    program,
    [
      '#!/bin/sh',
      `echo $$ >> ${starts}`,
      'echo "> ready"',
      'sleep 2', // until it has been seen to live
      `[ "$(wc -l < ${starts})" -gt 1 ] || ${process.execPath} ${BINARY} ${typed} > ${said} 2>&1`,
      'while read -r line; do echo "> $line"; done',
    ].join('\n'),
  )
  chmodSync(program, 0o755)
  writeFileSync(
    join(home, 'config.toml'),
    `[daemon]\nautostart = false\n[tools.one]\ncommand = "${program}"\nidle_patterns = ["re:^>"]\n`,
  )
  const env = { PATH: process.env.PATH ?? '', HOME: root, SKEIN_HOME: home }
  const skeinWith = (input: string, ...args: string[]) => {
    const options = { env, cwd: root, encoding: 'utf8' as const, timeout: 60_000, input }
    const ran = spawnSync(process.execPath, [BINARY, ...args], options)
    return { status: ran.status, stdout: ran.stdout, stderr: ran.stderr }
  }
  const skein = (...args: string[]) => skeinWith('', ...args)
  onTestFinished(() => {
    skein('daemon', 'stop')
    spawnSync('tmux', ['-S', join(home, 'tmux.sock'), 'kill-server'])
  })
  const lines = (path: string): string[] => (existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [])
  const agent = () => JSON.parse(skein('list', '--json', '--all').stdout).agents[0]
  const detachedSaid = () => lines(join(home, 'profiles', 'default', 'agents', 'detached.log')).join('\n')
  return {
    root,
    env,
    skein,
    skeinWith,
    agent,
    starts: () => lines(starts),
    said: () => lines(said).join('\n'),
    detachedSaid,
  }
}

describe.each(['no daemon', 'a daemon'])('typed by the agent in its own pane, with %s', (how) => {
  it('a handoff outlives the process that it ends, and both sessions are in one chain', async () => {
    const { skein, agent, starts, said, detachedSaid } = desk('handoff --message "carry on" --yes')
    if (how === 'a daemon') expect(skein('daemon', 'start').status).toBe(0)
    expect(skein('start', './shop', '--agent', 'toast', '--tool', 'one')).toMatchObject({ status: 0, stderr: '' })
    const first = agent()
    await eventually(starts, (all) => all.length === 2)
    const second = await eventually(agent, ({ pid, status }) => pid !== first.pid && status !== 'starting')
    expect(second).toMatchObject({ pane: first.pane, tmux_session: first.tmux_session })
    const chain = JSON.parse(skein('sessions', 'chain', first.session_id, '--json').stdout).chains[0]
    expect(chain.sessions.map(({ id, link, outcome }: Record<string, string>) => ({ id, link, outcome }))).toEqual([
      { id: first.session_id, outcome: 'handoff' },
      { id: second.session_id, link: 'handoff' },
    ])
    if (how === 'a daemon') return
    expect(said()).toContain('continues outside of the agent')
    await eventually(detachedSaid, (text) => text.includes('Handed off toast')) // it has ended before its home is removed
  })

  it('done ends it, and records the end', async () => {
    const { skein, agent, starts, detachedSaid } = desk('done --reason finished')
    if (how === 'a daemon') expect(skein('daemon', 'start').status).toBe(0)
    expect(skein('start', './shop', '--agent', 'toast', '--tool', 'one')).toMatchObject({ status: 0, stderr: '' })
    const { session_id } = agent()
    await eventually(agent, ({ status }) => status === 'stopped')
    expect(starts()).toHaveLength(1)
    if (how === 'no daemon') await eventually(detachedSaid, (text) => text.includes('toast is done'))
    expect(JSON.parse(skein('sessions', 'show', session_id, '--json').stdout)).toMatchObject({ outcome: 'done' })
  })
})

it('a message on standard input arrives whole, also when more is asked of it first; one of a megabyte is refused', () => {
  const { skein, skeinWith } = desk('list')
  expect(skein('start', './shop', '--agent', 'toast', '--tool', 'one')).toMatchObject({ status: 0 })
  const message = `The parser is next.\n${'x'.repeat(15_000)}`
  const long = skeinWith('y'.repeat(1024 * 1024), 'handoff', 'toast', '--stdin', '--json')
  expect(long).toMatchObject({ status: 2, stdout: '' })
  expect(JSON.parse(long.stderr).error.message).toBe('The message has 1048576 characters; at most 16000 are kept')
  const dry = JSON.parse(skeinWith(message, 'handoff', 'toast', '--stdin', '--dry-run', '--json').stdout)
  expect(dry.body).toBe(message.replace(/^/gm, '> '))
  const handed = JSON.parse(skeinWith(message, 'handoff', 'toast', '--stdin', '--json').stdout)
  const read = JSON.parse(skein('mail', 'read', handed.mail, '--json').stdout)
  expect(read.body).toBe(message.replace(/^/gm, '> '))
})

it('--watch goes to the terminal of the successor; work that is not saved is refused there without --yes', async () => {
  const { root, env, skein, agent, starts } = desk('list')
  expect(skein('start', './shop', '--agent', 'toast', '--tool', 'one')).toMatchObject({ status: 0 })
  const first = agent()
  const shop = join(root, 'shop')
  spawnSync('git', ['init', '-q', shop])
  writeFileSync(join(shop, 'half'), 'done')
  // A person's terminal: a tmux of its own.
  const socket = join(root, 'person.sock')
  const tmux = (...args: string[]): string =>
    spawnSync('tmux', ['-S', socket, '-f', '/dev/null', ...args], { env, encoding: 'utf8' }).stdout
  onTestFinished(() => void tmux('kill-server'))
  const typed = `env -u TMUX ${process.execPath} ${BINARY} handoff toast -m "carry on" --watch`
  const line = `${typed}; echo "refused with $?"; read go; ${typed} --yes; echo "left with $?"; sleep 600`
  tmux('new-session', '-d', '-x', '150', '-y', '20', 'sh', '-c', line)
  const screen = () => tmux('capture-pane', '-p')
  await eventually(screen, (text) => /refused with 2/.test(text) && text.includes('1 untracked file'))
  expect(agent()).toMatchObject({ pid: first.pid })
  tmux('send-keys', 'Enter')
  await eventually(starts, (all) => all.length === 2)
  await eventually(screen, (text) => text.includes('> ready') && !text.includes('refused')) // it shows the agent's own terminal
  expect(agent()).toMatchObject({ pane: first.pane })
  skein('kill', 'toast')
})
