import { basename, dirname, join } from 'node:path'
import { FileLock } from '../disk/index.js'
import { type Erasable, filesUnder, holdsContent, isUnder, type Sweep } from '../erasure/index.js'
import type { ProfilePaths } from './paths.js'

/** A start holds its agent for as long as a program needs to come up. */
const AGENT_WAIT_MS = 30_000

/** How agents run: a file each, and a directory with what their programs were started with. */
export class AgentFilesErasure implements Erasable {
  readonly name = 'agents'

  constructor(private readonly paths: Pick<ProfilePaths, 'agents'>) {}

  owns(path: string): boolean {
    return isUnder(path, this.paths.agents)
  }

  async erase(sweep: Sweep): Promise<void> {
    const { agents } = this.paths
    for (const path of filesUnder(agents)) {
      if (!holdsContent(path)) continue
      const isState = dirname(path) === agents && path.endsWith('.json')
      // Whoever changes how an agent runs reads the file, decides and writes it again under this lock.
      const lock = (): Promise<Disposable> =>
        new FileLock(join(agents, `${basename(path, '.json')}.state.lock`)).hold(AGENT_WAIT_MS)
      if (isState) await sweep.lockedFile(path, lock)
      else sweep.file(path)
    }
  }
}
