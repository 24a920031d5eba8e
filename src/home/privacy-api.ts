import type { Policy, RedactionTotals, Spelling } from '../privacy/index.js'
import type { When } from './moments.js'
import type { Proof } from './purge-proof.js'
import type { PurgedPlace } from './purge-sweep.js'
import type { StoredPolicies } from './stored-policies.js'

/** Looks after what is kept of texts that are already stored. */
export interface Privacy {
  /** Which rule was applied how often, as far as the journal still tells. Never a value. */
  audit(options?: AuditOptions): Promise<RedactionTotals>
  /** How much of the stored text was filtered under a policy that no longer holds. */
  stored(): Promise<StoredPolicies>
  /** Filters what is stored by the policy of today, from the logs where they still exist. May be interrupted and repeated. */
  apply(options?: { dryRun?: boolean }): Promise<PolicyApplication>
  /** What holds for sessions that worked in a directory; of one that is gone, with what its project said when it was last read. */
  policyAt(cwd: string | undefined): Promise<Policy>
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

export interface AuditOptions {
  session?: string
  since?: When
  until?: When
}

export interface PolicyApplication {
  dry_run: boolean
  /** Logs whose text is stored, and those of them to which another policy had been applied. */
  logs: number
  outdated: number
  /** Read again from the log, from its beginning. */
  read_again: number
  /** The log is gone, or the directory with its project's policy: what is stored was filtered again. */
  filtered_again: number
  passages_changed: number
  passages_dropped: number
  /** Logs of which a title or an unfinished prompt was filtered again. */
  places_changed: number
}
