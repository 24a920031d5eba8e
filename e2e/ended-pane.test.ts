import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { ModelServer } from './model-server/model-server.js'
import { Scratch } from './scratch.js'
import { Skein, until } from './skein.js'
import { claude } from './tools/claude.js'
import { codex } from './tools/codex.js'
import { opencode } from './tools/opencode.js'
import { User } from './user.js'

const PROGRAM = fileURLToPath(new URL('../bin/skein.js', import.meta.url))

it('after Ctrl-C twice in Claude Code, Enter goes on with its conversation, and q closes it', async () => {
  await using server = await ModelServer.start({ rules: [{ when: /.*/, steps: [{ text: 'Hello to you.' }] }] })
  using scratch = new Scratch('ended-pane')
  const env = claude.setUp(scratch, server)
  const skein = new Skein(scratch, env)
  await skein.run('start', '.', '--agent', 'worker', '--tool', 'claude')
  await skein.run('send', 'worker', 'hello', '--wait', '--timeout', '60s')
  const { session_id: session, pid } = await skein.agent('worker')
  const terminal = {
    ...env,
    SKEIN_HOME: scratch.path('skein'),
    TMUX_TMPDIR: scratch.path('tmp'),
    TERM: 'xterm-256color',
  }
  const person = (...args: string[]): string =>
    execFileSync('tmux', ['-L', 'person', '-f', '/dev/null', ...args], { encoding: 'utf8', env: terminal })
  const attach = `env -u TMUX ${process.execPath} ${PROGRAM} attach worker; echo "left with $?"; sleep 600`
  person('new-session', '-d', '-s', 'desk', '-x', '120', '-y', '40', '-c', scratch.project, 'sh', '-c', attach)
  try {
    const screen = (): string => person('capture-pane', '-p', '-t', 'desk')
    const shows = (wanted: RegExp) => until(`${wanted} is shown`, () => wanted.test(screen()), 60_000, screen)
    const leaves = async (): Promise<void> => {
      await shows(/Hello to you/)
      await until(
        'it has ended',
        () => {
          if (/the program has ended|Pane is dead/.test(screen())) return true
          person('send-keys', '-t', 'desk', 'C-c')
          return false
        },
        60_000,
        screen,
      )
    }
    await leaves()
    await skein.listed('worker', { status: 'stopped' })
    person('send-keys', '-t', 'desk', 'Enter')
    const again = await skein.listed('worker', { status: 'idle' }, 60_000)
    expect(again.session_id).toBe(session)
    expect(again.pid).not.toBe(pid)
    await leaves()
    person('send-keys', '-t', 'desk', 'q')
    await shows(/left with 0/)
    expect(await skein.agent('worker')).toMatchObject({ status: 'stopped', session_id: session })
  } finally {
    person('kill-server')
  }
})

it.each([codex, opencode])('$name that its user ends with Ctrl-C has stopped, and is not down', async (tool) => {
  await using user = await User.of([tool])
  const { skein } = user
  await user.agentAtWork('worker', tool)
  const isOver = async (): Promise<boolean> => {
    const { status } = await skein.agent('worker')
    if (status === 'stopped' || status === 'error') return true
    await skein.run('keys', 'worker', 'C-c', 'C-c').catch(() => undefined) // it may have ended since
    return false
  }
  await until('it has ended', isOver, 60_000)
  const ended = await skein.agent('worker')
  expect(ended).toMatchObject({ status: 'stopped', reason: expect.stringMatching(/^(?:exited 0|ended with Ctrl-C)$/) })
  expect(ended).not.toHaveProperty('down')
  expect(await skein.run('show', String(ended.session_id))).toMatchObject({ outcome: 'exit' })
})
