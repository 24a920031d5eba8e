import { FileLock } from '../disk/index.js'
import { type Erasable, holdsContent, type Sweep } from '../erasure/index.js'
import type { ProfilePaths } from './paths.js'

const WRITER_WAIT_MS = 10_000

/** Budgets name groups, units of work and who set them. The budget of a group whose name is erased limits nobody any more. */
export class BudgetsErasure implements Erasable {
  readonly name = 'budgets'

  constructor(private readonly paths: Pick<ProfilePaths, 'budgets'>) {}

  owns(path: string): boolean {
    return path === this.paths.budgets
  }

  async erase(sweep: Sweep): Promise<void> {
    const { budgets } = this.paths
    if (!holdsContent(budgets)) return
    await sweep.lockedFile(budgets, async () => {
      const lock = new FileLock(`${budgets}.lock`)
      const held = await lock.hold(WRITER_WAIT_MS)
      return {
        [Symbol.dispose]() {
          held[Symbol.dispose]()
          lock[Symbol.dispose]()
        },
      }
    })
  }
}
