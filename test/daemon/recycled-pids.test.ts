import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const WORKER = fileURLToPath(new URL('../workers/recycled-pids.mjs', import.meta.url))
/** In a pid namespace of its own, where pids can be given out again, and whose first process buries what nobody waits for. */
const ALONE = ['-r', '-p', '-f', '--mount-proc', '--kill-child', 'sh', '-c', '"$@"; exit $?', 'sh', process.execPath]

function strike(killed: 'program' | 'server', words: readonly string[]): Record<string, unknown> {
  const directory = mkdtempSync(join(tmpdir(), 'skein-recycled-'))
  try {
    const ran = spawnSync('unshare', [...ALONE, WORKER, directory, killed, ...words], {
      encoding: 'utf8',
      timeout: 290_000, // for what hangs
      killSignal: 'SIGKILL', // unshare ignores SIGTERM while it waits
    })
    if (ran.status !== 0) throw new Error(`${ran.status} ${ran.stderr}`)
    return JSON.parse(ran.stdout)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** Each command, its exit code, and whether the agent runs afterwards. */
const COMMANDS: readonly [string, number, boolean][] = [
  ['stop toast', 0, false],
  ['kill toast', 0, false],
  ['down --graceful 200ms', 0, false],
  ['recover', 0, true],
  ['restart toast', 0, true],
  ['daemon stop', 0, false],
  ['daemon start', 0, false],
]

it.each(COMMANDS)(
  'skein %s leaves programs of the same names alone that got the pids of the agent, its tmux server and the daemon',
  (line, status, isUp) => {
    for (const killed of ['program', 'server'] as const) {
      const names = killed === 'server' ? ['scripted', 'tmux', 'skein-daemon'] : ['scripted', 'skein-daemon']
      expect({ killed, ...strike(killed, line.split(' ')) }).toMatchObject({
        killed,
        untouched: names,
        status,
        isUp,
        isNew: isUp,
      })
    }
  },
)

it('the watchdog starts the agent again, and leaves programs alone that got its pids', () => {
  for (const killed of ['program', 'server'] as const) {
    const names = killed === 'server' ? ['scripted', 'tmux'] : ['scripted']
    expect({ killed, ...strike(killed, ['watchdog']) }).toMatchObject({ killed, untouched: names, isNew: true })
  }
})
