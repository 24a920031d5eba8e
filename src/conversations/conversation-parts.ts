import type { AgentName } from './agent-name.js'
import type { Surroundings } from './environment.js'
import type { ConversationPolicies } from './policies.js'
import type { ResetReceipt } from './reset.js'
import type { ConversationRows, Row } from './rows/rows.js'
import type { SpawnLimits } from './subagent.js'
import type { SdkClaims } from './turn/sdk-claims.js'

/** What the conversations of one agent are made of. */
export interface ConversationsParts {
  agent: AgentName
  rows: ConversationRows
  /** Where the agent's transcripts are. */
  directory: string
  claims: SdkClaims
  surroundings: Surroundings
  policies: ConversationPolicies
  spawnLimits: SpawnLimits
}

/** A compaction: a summary takes the place of everything before the first kept entry. */
export interface Compaction {
  summary: string
  /** The id of a transcript entry. */
  firstKept: string
  tokensBefore?: number
}

export interface Received {
  row: Row
  created: boolean
  /** Why the conversation started over with this message. */
  reset?: ResetReceipt
  /** The message without a `/new` or `/reset` in front. */
  text: string
}
