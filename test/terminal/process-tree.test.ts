import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const WORKER = fileURLToPath(new URL('../workers/end-tree.mjs', import.meta.url))
const STRANGERS = ['like-a-mark', 'other-run', 'unmarked']

/** In a pid namespace of its own: whatever goes wrong, no process of anyone else can be signalled. */
function run(what: string): { found: Record<string, string>; left: number; alive: string[] } {
  const directory = mkdtempSync(join(tmpdir(), 'skein-tree-'))
  try {
    const args = ['-r', '-p', '-f', '--mount-proc', '--kill-child', process.execPath, WORKER, directory, what]
    return JSON.parse(execFileSync('unshare', args, { encoding: 'utf8', timeout: 60_000 }))
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

describe('the process tree of a program', () => {
  it('is ended whole: children, own sessions, orphans, daemons, the stubborn, the stopped and the latest', () => {
    const { found, left, alive } = run('all')
    expect(found).toEqual({
      root: 'root',
      child: 'parent',
      grandchild: 'parent',
      'own-session': 'parent',
      orphan: 'session',
      daemon: 'mark',
      stubborn: 'parent',
      stopped: 'parent',
      spawner: 'parent',
    })
    expect(left).toBe(0)
    expect(alive).toEqual(STRANGERS)
  })

  it('is ended also when the program itself has ended already', () => {
    const { found, left, alive } = run('root-dead')
    expect(found).not.toHaveProperty('root')
    expect(found).toMatchObject({ orphan: 'session', daemon: 'mark', child: 'session' })
    expect(left).toBe(0)
    expect(alive).toEqual(STRANGERS)
  })

  it('is empty when the pid belongs to another process by now', () => {
    const { found, alive } = run('other-life')
    expect(found).toEqual({})
    expect(alive).toEqual(expect.arrayContaining(['root', 'child', 'stubborn', ...STRANGERS]))
  })
})
