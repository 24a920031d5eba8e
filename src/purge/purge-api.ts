import type { PurgedPlace } from '../erasure/index.js'
import type { Spelling } from '../privacy/index.js'
import type { Proof } from './proof.js'

/** Takes things out of a home for good. */
export interface Purging {
  /** Takes something out of everything that is stored, in every profile, and keeps it out. */
  purge(options: PurgeOptions): Promise<PurgeReport>
  /** Another text whenever a purge has begun or ended: what was read before that must not be told any more. */
  lastPurge(): string
}

/** What to take out of everything: one of the first four, or nothing to finish what was interrupted. */
export interface PurgeOptions {
  /** A regular expression. */
  pattern?: string
  /** A path or glob: the path goes from every text, and calls of tools on it go whole. */
  path?: string
  /** A session, with all that is recorded of it but what it spent. */
  session?: string
  secret?: string
  resume?: boolean
  /** Only say where it is. */
  dryRun?: boolean
  /** Be done with it although something is left, in ids or settings for example. */
  accept?: boolean
}

export interface PurgeReport {
  dry_run: boolean
  /** Where it was, or is: files of the home, relative to it. Never what. */
  places: PurgedPlace[]
  count: number
  /** How it was written there. */
  spellings: Spelling[]
  /** Logs of the tools that hold it, which Skein does not change. From now on it is kept out when they are read. */
  native_logs: PurgedPlace[]
  /** Logs in whose path a secret stands, by which their records are found: there it stays. */
  log_paths: number
  /** What a second way through every byte has found; absent on a dry run. */
  proof?: Proof
}
