export { agentsAnswer } from './agents/answer.js'
export { agentsArchive, agentsMove, agentsRemove, agentsRename, agentsSnooze, agentsUnarchive } from './agents/care.js'
export { agentsDown, agentsUp } from './agents/down-up.js'
export { doEach, type Failure, type Job } from './agents/each.js'
export { fork } from './agents/fork.js'
export { agentsDone, agentsHandoff } from './agents/handoff.js'
export { agentsKeys } from './agents/keys.js'
export { agentsList, type ListedAgents } from './agents/list.js'
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
export { agentsAck, agentsKill, agentsSleep, agentsStop, agentsWait, agentsWake } from './agents/many.js'
export { agentsRecord } from './agents/record.js'
export { agentsRecover, type RecoveryLine, recoverAgents } from './agents/recover.js'
export { agentsAdd, agentsSet, agentsSetParent, agentsShow } from './agents/roster.js'
export { isDown, isUp, MANY_AGENTS, selectAgents } from './agents/selection.js'
export { agentsSend } from './agents/send.js'
export { agentsSpawn, LAUNCH } from './agents/spawn.js'
export { type BudgetStanding, type Budgets, budgetClear, budgetSet, budgetShow } from './budget/budget.js'
export { type AgentCheckpoint, checkpointClear, checkpointRead, checkpointWrite } from './checkpoint/checkpoint.js'
export { COMMAND_ONLY } from './command-only.js'
export type { OperationContext, ProfileEntry } from './context.js'
export {
  conversationsExport,
  conversationsImport,
  conversationsPrune,
  conversationsRemove,
  conversationsReset,
  conversationsSet,
} from './conversations/change.js'
export { conversationsList, conversationsPolicy, conversationsShow } from './conversations/read.js'
export { duration } from './duration.js'
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
export { groupCreate, groupDelete, groupList, groupPark, groupRename, groupSet, groupUnpark } from './groups/groups.js'
export { bisect } from './history/bisect.js'
export { blame } from './history/blame.js'
export { cost } from './history/cost.js'
export { diff } from './history/diff.js'
export { type ExplanationDocument, explain } from './history/explain.js'
export { documentOf, exported, exportSessions, ofStep } from './history/export.js'
export { ingest } from './history/ingest.js'
export { onlyStep, STEP } from './history/only-step.js'
export { packed, packSessions } from './history/pack.js'
export { rewind } from './history/rewind.js'
export { PART, search } from './history/search.js'
export { sessionsNamed } from './history/sessions-named.js'
export type { TurnFork } from './history/turn-forks.js'
export { turnsNote, turnsPin, turnsUnpin } from './history/turn-marks.js'
export { stateOf, type TurnSnapshot, type TurnState } from './history/turn-state.js'
export {
  callsDocument,
  type PlacedToolCall,
  type ShownTurns,
  shownTurns,
  tools,
  turns,
  turnsDocument,
} from './history/turns.js'
export { unpack } from './history/unpack.js'
export { jsonDocument, jsonLine } from './json-text.js'
export {
  agentRef,
  type Completes,
  choice,
  count,
  freeText,
  type Kind,
  path,
  sessionRef,
  text,
} from './kind.js'
export { list } from './list.js'
export { mailInbox, mailRead, mailReply, mailSend } from './mail/mail.js'
export { openApi } from './openapi.js'
export type { Operation } from './operation.js'
export { present } from './present.js'
export { queryOf, readInput, readQuery } from './read-input.js'
export { roleList, roleShow } from './role/roles.js'
export { resurrect } from './seance/resurrect.js'
export { seanceList, seanceRead } from './seance/seance.js'
export { sessionLogTool } from './session/log-tool.js'
export { sessionEnd, sessionHandoff, sessionStart, sessionStep, sessionUpdate } from './session/record.js'
export { type ShownChains, sessionsChain } from './sessions/chain.js'
export { sessionsFind } from './sessions/find.js'
export { sessionsList } from './sessions/list.js'
export { type ShownPage, type ShownSession, withSpent } from './sessions/page.js'
export { sessionsShow } from './sessions/show.js'
export { sessionsTree } from './sessions/tree.js'
export { stepDone, stepStart } from './step/step.js'
export {
  type InputOf,
  isOperationName,
  loadOperation,
  OPERATION_NAMES,
  OPERATIONS,
  type OperationName,
  type ResultOf,
} from './table.js'
export type { ProgramRow } from './tool/program-documents.js'
export { type ProgramDetail, type ReadingDocument, toolList, toolShow, toolTest } from './tool/tools.js'
export { archiveList, archivePrune, archiveRestore, archiveStats, archiveVerify } from './upkeep/archive.js'
export { indexCheck, indexRebuild } from './upkeep/index-care.js'
export { privacyApply, privacyAudit, privacyCheck, privacyTest, purge } from './upkeep/privacy.js'
export { profileCreate, profileList } from './upkeep/profiles.js'
export { snapshotsGc, snapshotsStats, snapshotsVerify } from './upkeep/snapshots.js'
export { unknownWord, usageError } from './usage-error.js'
export { sling } from './work/sling.js'
export { workAdd, workBlock, workDone, workHook, workList, workShow, workUnhook } from './work/work.js'
