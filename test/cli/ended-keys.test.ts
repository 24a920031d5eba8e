import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { eventually } from '../lifecycle/workshop.js'
import { endAgents } from './agent-prelude.js'
import { BINARY, environmentIn, run } from './binary.js'
import { scratch } from './world.js'

/** A program with a conversation that it can resume, which ends when it reads `die`, and says whose variable it has. */
const PROGRAM = `if [ "$1" = --json ]; then echo '{"id": "conv-1"}'; exit; fi
echo "ready $* for $PERSON"
while read -r line; do [ "$line" = die ] && { echo "last words"; exit 3; }; echo "got $line"; done
`

/** An agent that runs, and a person's terminal (a tmux of its own) that is attached to it. No daemon. */
async function attached() {
  const at = scratch()
  const env = environmentIn(at.path, { PERSON: 'ada', TMUX_TMPDIR: at.path })
  const home = env.SKEIN_HOME ?? ''
  const program = join(at.path, 'program')
  mkdirSync(home, { recursive: true })
  writeFileSync(program, PROGRAM)
  writeFileSync(
    join(home, 'config.toml'),
    `[daemon]\nautostart = false\n[tools.demo]\ncommand = ["sh", "${program}"]\nidle_patterns = ["ready"]\nresume_flag = "--resume"\noutput_format_flag = "--json"\nsession_id_json_path = ".id"\n`,
  )
  const skein = (...args: string[]) => run(process.execPath, [BINARY, ...args], { env, cwd: at.path })
  const outer = (...args: string[]): string =>
    execFileSync('tmux', ['-L', 'person', '-f', '/dev/null', ...args], { encoding: 'utf8', env })
  onTestFinished(() => {
    outer('kill-server')
    endAgents(home)
    at[Symbol.dispose]()
  })
  const started = await skein('start', '.', '--agent', 'web/toast', '--tool', 'demo', '--json')
  expect(started).toMatchObject({ stderr: '', exitCode: 0 })
  // A terminal of this person: without TMUX, as a client inside another one would open a window there.
  const line = `env -u TMUX ${process.execPath} ${BINARY} attach web/toast; echo "left with $?"; sleep 600`
  outer(
    'new-session',
    '-d',
    '-s',
    'desk',
    '-x',
    '100',
    '-y',
    '30',
    '-c',
    at.path,
    'env',
    'PERSON=bob',
    'sh',
    '-c',
    line,
  )
  const screen = (): string => outer('capture-pane', '-p', '-t', 'desk')
  const shows = (wanted: RegExp) => eventually(screen, (shown) => wanted.test(shown))
  const keys = (...typed: string[]): string => outer('send-keys', '-t', 'desk', ...typed)
  const view = async () => JSON.parse((await skein('list', '--json')).stdout).agents[0]
  await shows(/ready --resume conv-1 for ada/)
  const panes = (): string =>
    execFileSync('tmux', ['-S', join(home, 'tmux.sock'), 'list-panes', '-a', '-F', '#{session_name}'], {
      encoding: 'utf8',
    })
  return { skein, shows, keys, view, panes }
}

it('Enter in the pane of an ended program restarts it in its conversation, as the person who pressed it', async () => {
  const { shows, keys, view } = await attached()
  keys('q', 'uiet', 'Enter')
  await shows(/got quiet/) // keys of a living program are its own
  keys('die', 'Enter')
  expect(await shows(/the program has ended|Pane is dead/)).toMatch(/last words/)
  keys('x')
  await shows(/Enter restarts it · q closes it|Pane is dead/)
  keys('Enter')
  await shows(/ready --resume conv-1 for bob/)
  expect(await view()).toMatchObject({ status: 'idle', session_id: 'conv-1' })
  keys('again', 'Enter')
  await shows(/got again/)
  keys('Enter')
  keys('C-q')
  await shows(/left with 0/)
})

it('q closes it, with its end recorded; the pane can be read before', async () => {
  const { shows, keys, view, skein } = await attached()
  keys('die', 'Enter')
  await shows(/the program has ended|Pane is dead/)
  keys('PPage') // reading: here q only leaves the reading
  await shows(/\[\d+\/\d+\]/)
  keys('q')
  await eventually(
    () => shows(/last words/),
    (shown) => !/\[\d+\/\d+\]/.test(shown),
  )
  keys('q')
  await shows(/left with 0/)
  expect(await view()).toMatchObject({ status: 'stopped', reason: 'exited 3' })
  const again = await skein('restart', 'web/toast')
  expect(again).toMatchObject({ exitCode: 0 })
  expect(await view()).toMatchObject({ status: 'idle', session_id: 'conv-1' })
})

it('an agent that is gone by then is not restarted, and the terminal says so', async () => {
  const { shows, keys, skein, panes } = await attached()
  keys('die', 'Enter')
  await shows(/the program has ended|Pane is dead/)
  await skein('list')
  expect(await skein('remove', 'web/toast')).toMatchObject({ exitCode: 0 })
  keys('Enter')
  await shows(/skein: this agent was removed/)
  await eventually(
    () => panes(),
    (left) => !left.includes('web/toast'),
  )
  expect(JSON.parse((await skein('list', '--json')).stdout).agents).toEqual([])
})
