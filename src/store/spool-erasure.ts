import { type Erasable, filesUnder, holdsContent, isUnder, type Sweep } from '../erasure/index.js'
import { Spool } from '../journal/index.js'
import type { ProfilePaths } from './paths.js'

const TAKER_WAIT_MS = 10_000

/** Messages of programs that nobody has taken yet, and those that could not be read. */
export class SpoolErasure implements Erasable {
  readonly name = 'spool'

  constructor(private readonly paths: Pick<ProfilePaths, 'spool'>) {}

  owns(path: string): boolean {
    return isUnder(path, this.paths.spool)
  }

  async erase(sweep: Sweep): Promise<void> {
    const { spool } = this.paths
    // A message that is taken meanwhile must not come back.
    const lock = (): Promise<Disposable> => new Spool(spool).hold(TAKER_WAIT_MS)
    for (const path of filesUnder(spool)) if (holdsContent(path)) await sweep.lockedFile(path, lock)
  }
}
