export { agentsAnswer } from './agents/answer.js'
export { agentsArchive, agentsMove, agentsRemove, agentsRename, agentsSnooze, agentsUnarchive } from './agents/care.js'
export { doEach, type Failure, type Job } from './agents/each.js'
export { agentsKeys } from './agents/keys.js'
export { agentsList } from './agents/list.js'
export {
  agentsAttach,
  agentsNext,
  agentsOutput,
  agentsReport,
  agentsStatus,
  agentsWhy,
  type StatusSummary,
  summaryOf,
} from './agents/look.js'
export { agentsAck, agentsKill, agentsStop, agentsWait } from './agents/many.js'
export { agentsRecord } from './agents/record.js'
export { agentsAdd, agentsSet, agentsSetParent, agentsShow } from './agents/roster.js'
export { isDown, isUp, MANY_AGENTS, selectAgents } from './agents/selection.js'
export { agentsSend } from './agents/send.js'
export { agentsSpawn, LAUNCH } from './agents/spawn.js'
export type { OperationContext, ProfileEntry } from './context.js'
export { errorFacts } from './error-facts.js'
export {
  eventsAppend,
  eventsConfig,
  eventsDecay,
  eventsFeed,
  eventsPrune,
  eventsStats,
  eventsTail,
} from './events/events.js'
export {
  defaulted,
  type Field,
  type Fields,
  flag,
  type Given,
  optional,
  repeated,
  required,
  type Values,
} from './field.js'
export { groupCreate, groupDelete, groupList, groupRename } from './groups/groups.js'
export { cost } from './history/cost.js'
export {
  agentRef,
  type Completes,
  choice,
  count,
  directory,
  freeText,
  groupRef,
  type Kind,
  sessionRef,
  text,
  when,
} from './kind.js'
export { list } from './list.js'
export type { Operation } from './operation.js'
export { present } from './present.js'
export { queryOf, readInput, readQuery } from './read-input.js'
export { type ShownChains, sessionsChain } from './sessions/chain.js'
export { sessionsFind } from './sessions/find.js'
export { sessionsList } from './sessions/list.js'
export { type ShownPage, type ShownSession, withSpent } from './sessions/page.js'
export { sessionsShow } from './sessions/show.js'
export { sessionsTree } from './sessions/tree.js'
export {
  type InputOf,
  isOperationName,
  loadOperation,
  OPERATION_NAMES,
  OPERATIONS,
  type OperationName,
  type ResultOf,
} from './table.js'
export { unknownWord, usageError } from './usage-error.js'
