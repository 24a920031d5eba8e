import { SkeinError } from '../model/index.js'
import { BareStore } from './bare-store.js'
import { type CaptureRequest, type CaptureSetting, capture } from './capture.js'
import { Git, type GitProgram } from './git.js'
import { LIMITS, type Limits } from './limits.js'
import { type Restored, type RestoreTarget, restore } from './restore.js'
import { recordIn, refOf, type Snapshot } from './snapshot.js'

interface SnapshotsSetup {
  /** The directory of the stores: `profiles/<profile>/snapshots`. */
  directory: string
  program: GitProgram
  now: () => number
  home?: string
  limits?: Partial<Limits>
}

/** The code state of turns: one profile's snapshots of all repositories. */
export class Snapshots {
  readonly #setting: CaptureSetting

  constructor({ directory, program, now, home, limits }: SnapshotsSetup) {
    const git = new Git(program)
    this.#setting = { snapshots: directory, git, now, home, limits: { ...LIMITS, ...limits } }
  }

  capture(request: CaptureRequest): Promise<Snapshot> {
    return capture(this.#setting, request)
  }

  restore(snapshot: Snapshot, target: RestoreTarget): Promise<Restored> {
    return restore(this.#setting, snapshot, target)
  }

  /** Snapshots of a session, oldest first; of all sessions without one. */
  async list(session?: string): Promise<Snapshot[]> {
    const { snapshots, git } = this.#setting
    const pattern = session === undefined ? 'refs/turns' : refOf(session, '').slice(0, -1)
    const found: Snapshot[] = []
    for (const store of BareStore.all(snapshots, git)) {
      const commits = await store.commits(pattern)
      for (const { commit, message } of await messagesOf(
        git,
        store,
        commits.map((one) => one.commit),
      )) {
        const record = recordIn(message)
        if (record) found.push({ ...record, store: store.name, commit })
      }
    }
    return found.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : a.seq - b.seq))
  }

  async find(session: string, seq: number): Promise<Snapshot> {
    const snapshot = (await this.list(session)).find((one) => one.seq === seq)
    if (snapshot) return snapshot
    throw new SkeinError(
      'snapshot-not-found',
      `Session ${session} has no snapshot ${seq}`,
      'Run `skein turns` to see them',
    )
  }
}

async function messagesOf(
  git: Git,
  store: BareStore,
  commits: readonly string[],
): Promise<{ commit: string; message: string }[]> {
  if (commits.length === 0) return []
  const bytes = await git.bytes([...store.at(), 'cat-file', '--batch', '--buffer'], {
    input: commits.map((commit) => `${commit}\n`).join(''),
  })
  const found: { commit: string; message: string }[] = []
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(10, at)
    const [commit = '', kind = '', size = '0'] = bytes.toString('latin1', at, end).split(' ')
    if (kind === 'missing') {
      at = end + 1
      continue
    }
    found.push({ commit, message: bytes.toString('utf8', end + 1, end + 1 + Number(size)) })
    at = end + 1 + Number(size) + 1
  }
  return found
}
