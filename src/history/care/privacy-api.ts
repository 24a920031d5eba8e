import type { Policy, RedactionTotals } from '../../privacy/index.js'
import type { When } from '../../store/index.js'
import type { StoredPolicies } from './stored-policies.js'

/** Looks after what is kept of texts that are already stored. */
export interface PrivacyUpkeep {
  /** Which rule was applied how often, as far as the journal still tells. Never a value. */
  audit(options?: AuditOptions): Promise<RedactionTotals>
  /** How much of the stored text was filtered under a policy that no longer holds. */
  stored(): Promise<StoredPolicies>
  /** Filters what is stored by the policy of today, from the logs where they still exist. May be interrupted and repeated. */
  apply(options?: { dryRun?: boolean }): Promise<PolicyApplication>
  /** What holds for sessions that worked in a directory; of one that is gone, with what its project said when it was last read. */
  policyAt(cwd: string | undefined): Promise<Policy>
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
