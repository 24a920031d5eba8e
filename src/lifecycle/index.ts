export type { AgentRun, Binding, LiveRun, Respawn } from './agent-run.js'
export { AgentRuns, type Found } from './agent-runs.js'
export { viewsOf } from './agent-view.js'
export type {
  Agents,
  AgentView,
  Explanation,
  ForkReceipt,
  HandoffReceipt,
  Receipt,
  RecordedScreen,
  RecoveryReceipt,
  SendReceipt,
  StartAgent,
  StartNow,
  UnpackReceipt,
} from './agents.js'
export { BudgetBook } from './budget/budget-book.js'
export { enforceBudgets } from './budget/enforce.js'
export { type Standing, standings } from './budget/standing.js'
export { type Checkpoint, writeTurnCheckpoint } from './care/checkpoint.js'
export { parseHibernate } from './care/hibernate-settings.js'
export { hookedWork } from './care/hooked-work.js'
export { waitLeft } from './care/respawn.js'
export { considerRespawn, endStranded, pendingRespawn, respawnAgent } from './care/respawn-agent.js'
export { careForSilent } from './care/silent-agent.js'
export { putToSleep } from './care/sleep.js'
export { ToolWork } from './care/tool-work.js'
export { parseWatchdogSettings, type WatchdogSettings } from './care/watchdog-settings.js'
export type { Resurrection } from './fork/resurrect.js'
export { sweepForks } from './fork/sweep-forks.js'
export { meaningOf } from './handoff/call-meaning.js'
export { finishCutHandoff, hasUnfinishedHandoff } from './handoff/cut-handoff.js'
export { agentsOf, type ConfiguredAgents, configuredParts, openAgents } from './open-agents.js'
export type { PackReport } from './pack/pack.js'
export type { Parts } from './parts.js'
export {
  answerHook,
  HOOK_INPUT,
  HOOK_LIMIT_MS,
  type HookQuestion,
  MAYBE_HOOK_INPUT,
  primeFrom,
} from './prime/answer-hook.js'
export { readHookMessage, sessionOfEnvironment } from './prime/hook-message.js'
export type { Answering } from './prime/hook-run.js'
export { type HookReport, InstalledHooks } from './prime/installed-hooks.js'
export type { Prime } from './prime/prime.js'
export { primeText } from './prime/prime-text.js'
export { parseRecoverSettings } from './recover/recover-settings.js'
export { recordShutDown } from './recover/shut-down.js'
export { sweepAllLaunchScripts } from './run/launch-leftovers.js'
export { lifeOfRun } from './run/run-life.js'
export { type SocketFacts, socketOfHome, tmuxSocket } from './run/tmux-socket.js'
export { sweepMediums } from './seance/medium.js'
export { readSeance } from './seance/read.js'
export { finishCutSling, hasUnfinishedSling } from './sling/marker.js'
export { decideStatus, type Sighting, unknownBy, type Verdict, waitToken } from './status/decide-status.js'
export { activityOf, mergeTold } from './status/evidence.js'
export { takeIn } from './status/intake.js'
export { type Observed, observe } from './status/observe.js'
export { endGoneOutside } from './status/outside.js'
export { sendPending } from './talk/pending-prompt.js'
export { Terminals } from './terminals.js'
export { captureEdge, type EdgeCapture, edgeCapture } from './turns/capture-edge.js'
export { CapturedTurns } from './turns/captured-edges.js'
export { commitTurns, pushTurns } from './turns/commit-turns.js'
export { TurnBranches, type TurnBranchView, turnBranchView } from './turns/turn-branch.js'
export { capturedWith, turnEdges } from './turns/turn-edges.js'
