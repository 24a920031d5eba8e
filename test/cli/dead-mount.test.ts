import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const WORKER = join(import.meta.dirname, '..', 'workers', 'hung-directory.mjs')

/** Where the kernel has FUSE, a mount can be made whose program hangs: whoever asks it sleeps, and no signal ends that. */
it.runIf(existsSync('/dev/fuse'))(
  'a directory on a mount that hangs is shown with its trouble, and keeps no command and no daemon from answering',
  async () => {
    const scene = realpathSync(mkdtempSync(join(tmpdir(), 'skein-dead-')))
    try {
      const asUser = process.getuid?.() === 0 ? [] : ['--map-root-user']
      const alone = [...asUser, '--pid', '--fork', '--mount-proc', '--kill-child', process.execPath, WORKER, scene]
      const { stdout } = await promisify(execFile)('unshare', alone)
      const mount = join(scene, 'real')
      const trouble = (path: string) => `${path} is on a file system that does not answer (${mount})`
      const none = { there: 'none', linked: 'none', free: 'none' }
      const hung = { there: trouble(mount), linked: trouble(join(scene, 'link')), free: 'none' }
      expect(JSON.parse(stdout)).toEqual({
        before: none,
        dead: hung,
        again: hung,
        left: 1, // one process waits for the mount, however many commands have asked
        refused: {
          error: {
            code: 'timed-out',
            message: trouble(join(scene, 'link', 'below')),
            next: `Bring it back, or take it away: umount -l ${mount}`,
          },
        },
        watched: hung,
        known: ['free', 'linked', 'there'],
        after: none,
      })
    } finally {
      rmSync(scene, { recursive: true, force: true })
    }
  },
)
