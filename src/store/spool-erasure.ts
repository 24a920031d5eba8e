import { namesIn } from '../disk/index.js'
import { type Erasable, filesUnder, holdsContent, isUnder, type Sweep } from '../erasure/index.js'
import { Spool } from '../journal/index.js'
import type { ProfilePaths } from './paths.js'

const TAKER_WAIT_MS = 10_000
/** A hook writes for milliseconds. What is there for longer was left by one that was killed. */
const HOOK_WAIT_MS = 1_000

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
    if (!sweep.dryRun) await untilWritten(spool)
    for (const path of filesUnder(spool)) if (holdsContent(path)) await sweep.lockedFile(path, lock)
  }
}

/** A hook that is just writing its message holds no lock: replaced under its hands, half of the message would be lost. */
async function untilWritten(spool: string): Promise<void> {
  const deadline = performance.now() + HOOK_WAIT_MS
  const isHalf = (name: string): boolean => name.startsWith('.') && !name.startsWith('.lock')
  while (namesIn(spool).some(isHalf) && performance.now() < deadline)
    await new Promise((resolve) => setTimeout(resolve, 20))
}
