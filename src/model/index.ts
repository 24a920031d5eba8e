export {
  type AgentAddress,
  caseless,
  containerOf,
  type GroupPath,
  groupLineage,
  isWithin,
  joinAddress,
  lastSegment,
  parseAddress,
  parseGroupPath,
  parseName,
  rebase,
  splitAddress,
} from './address.js'
export type { Agent, Group } from './agent.js'
export { agentsNamed, agentsWithId } from './agent-reference.js'
export { askLine, shownReason } from './ask-line.js'
export { beacon, beaconText, readBeacon, TOPICS } from './beacon.js'
export {
  type Amount,
  amountText,
  BUDGET_PERIODS,
  type Budget,
  type BudgetPeriod,
  type BudgetSpent,
  type BudgetState,
  type BudgetTarget,
  budgetKey,
  budgetState,
  isAmount,
  isBudget,
  isSameBudget,
  parseAmount,
  spentText,
} from './budget.js'
export type { Context, Progress } from './context.js'
export { type ErrorCode, SkeinError, unreachable } from './error.js'
export {
  defaultVisibility,
  type Event,
  isDurable,
  isKnownType,
  isStateType,
  RECORD_TYPES,
  type StateEvent,
  type StatePayloads,
  VISIBILITIES,
  type Visibility,
} from './event.js'
export {
  eventFault,
  isEventType,
  isSoundAgent,
  isSoundGroup,
  isSoundRecord,
  isSoundSession,
} from './event-shape.js'
export { summarize } from './event-summary.js'
export { checkOrder, MAX_ORDER, reordered } from './group-order.js'
export {
  type AgentId,
  type EventId,
  firstIdOf,
  isAgentId,
  isEventId,
  isSessionId,
  isWorkId,
  type MailId,
  msOfEventId,
  nextEventId,
  parseAgentId,
  parseSessionId,
  type SessionId,
  type WorkId,
} from './ids.js'
export { isTooDeep, isTooShortToBeDeep, readJson } from './json.js'
export { HANDOFF_PRIORITY, isStaleFor, type Mail, type MailKind } from './mail.js'
export { grouped, money } from './money.js'
export { nearest } from './nearest.js'
export { isNewer, newerFormat } from './newer-format.js'
export { onDemand } from './on-demand.js'
export { openStepAt } from './open-step.js'
export {
  LINKS,
  type Link,
  OUTCOME_OF_LINK,
  OUTCOMES,
  type Outcome,
} from './outcome.js'
export { patternRisk } from './pattern-risk.js'
export { plainLine, plainText, quotedText } from './quote.js'
export {
  DEFAULT_POLICY,
  isExpired,
  matchesPattern,
  type Retention,
  type RetentionPolicy,
  retentionOf,
  worth,
} from './retention.js'
export {
  DEFAULT_START,
  HANDOFFS,
  PRECOMPACTS,
  plainRole,
  RESPAWNS,
  type Role,
  type RoleIdentity,
  type RoleNames,
  type RoleStart,
} from './role.js'
export { GASTOWN, PRESETS } from './role-preset.js'
export { type NameKind, Roles, type RoleTheme, recipientOf } from './role-taxonomy.js'
export { type Placeholder, templateFault } from './role-template.js'
export { isRosterEvent, Roster } from './roster.js'
export { byOrder, flattenRoster, type RosterRow } from './roster-rows.js'
export {
  durationMs,
  type ForkOrigin,
  isActive,
  type Session,
  type SessionFacts,
  type Step,
  TAKEN_BACK,
  type ToolCall,
  type Turn,
  type TurnMark,
} from './session.js'
export { applyToSession, sessionsTouchedBy } from './session-state.js'
export * as shapes from './shape.js'
export {
  type AgentStatus,
  type Ask,
  type Evidence,
  INTERRUPTED,
  isInterruption,
  isWaitToken,
  OPTION_MEANINGS,
  type OptionMeaning,
  STATUS_SOURCES,
  STATUSES,
  type Status,
  type StatusSource,
  TROUBLES,
  type Trouble,
  type TurnEnd,
  WAITS,
  type Wait,
} from './status.js'
export {
  DAY_MS,
  formatDuration,
  type Instant,
  instantIfAny,
  instantOf,
  isInstant,
  laterOf,
  msOf,
  parseDuration,
  parseInstant,
  parseWhen,
} from './time.js'
export {
  isUnreadCount,
  largerUsage,
  loggedNanoUsd,
  MOST_TOKENS,
  mayHoldToken,
  modelName,
  overridesKey,
  type PriceOverride,
  type PriceOverrides,
  splitCacheWrites,
  type Tokens,
  tokenCount,
  totalTokens,
  type UsageCall,
} from './usage.js'
export {
  CLOSED_STATUSES,
  type ClosedStatus,
  type HandoffEntry,
  type HandoffRecord,
  isHooked,
  PRIORITIES,
  type Priority,
  USUAL_PRIORITY,
  WORK_STATUSES,
  type WorkStatus,
  type WorkUnit,
} from './work.js'
export {
  factsOfItem,
  type ItemKey,
  type ItemKind,
  type ItemValues,
  itemsOf,
  type WorkItem,
  withAddress,
} from './work-item.js'
