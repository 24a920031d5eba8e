import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { withoutRightsOfRoot } from '../support/without-rights-of-root.js'

const WORKER = join(import.meta.dirname, '..', 'workers', 'odd-surroundings.mjs')
/** `each` makes every place odd alone, which takes ten times as long; else those that do not hide each other are odd together. */
const MODE = process.env.SKEIN_FUZZ_EACH ? 'each' : 'grouped'
const isRoot = process.getuid?.() === 0

/** Everything that Skein reads and did not write is in turn one of these. `dead`: a mount that never answers, where the kernel has FUSE. */
const KINDS = [
  ...(['pipe', 'device', 'directory', 'link', 'sparse', 'unreadable'] as const),
  ...(existsSync('/dev/fuse') ? (['dead'] as const) : []),
]

it.concurrent.each(KINDS)(
  'every command answers and the daemon stays up when what Skein reads is: %s',
  async (kind) => {
    const scene = mkdtempSync(join(tmpdir(), 'skein-odd-'))
    try {
      const lines = (await look(scene, kind)).map((line) => JSON.parse(line) as Record<string, unknown>)
      const done = lines.pop()
      expect(lines).toEqual([])
      expect(done).toMatchObject({ done: kind })
      console.log(JSON.stringify(done))
    } finally {
      rmSync(scene, { recursive: true, force: true })
    }
  },
  1_800_000,
)

/** In a pid namespace of its own, so that nothing that it starts is left. */
function look(scene: string, kind: (typeof KINDS)[number]): Promise<string[]> {
  const namespace = [...(isRoot ? [] : ['--map-root-user']), '--pid', '--fork', '--mount-proc', '--kill-child']
  const user = kind === 'unreadable' ? withoutRightsOfRoot : []
  const child = spawn('unshare', [...namespace, ...user, process.execPath, WORKER, scene, kind, MODE])
  return new Promise((resolve, reject) => {
    let [said, complained] = ['', '']
    child.stdout.on('data', (bytes) => (said += bytes))
    child.stderr.on('data', (bytes) => (complained += bytes))
    child.on('error', reject)
    child.on('close', (code) => {
      const lines = said.split('\n').filter((line) => line !== '')
      if (code === 0) resolve(lines)
      else reject(new Error(`the worker ended with ${code}: ${complained}\n${said}`))
    })
  })
}
