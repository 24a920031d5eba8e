export type { AgentRun, Binding, LiveRun } from './agent-run.js'
export { AgentRuns, type Found } from './agent-runs.js'
export { viewsOf } from './agent-view.js'
export type {
  Agents,
  AgentView,
  Explanation,
  Receipt,
  RecordedScreen,
  SendReceipt,
  StartAgent,
  StartNow,
} from './agents.js'
export { decideStatus, type Sighting, unknownBy, type Verdict, waitToken } from './decide-status.js'
export { activityOf, mergeTold } from './evidence.js'
export { takeIn } from './intake.js'
export { sweepAllLaunchScripts } from './launch-leftovers.js'
export { type Observed, observe } from './observe.js'
export { agentsOf, type ConfiguredAgents, configuredParts, openAgents } from './open-agents.js'
export type { Parts } from './parts.js'
export { sendPending } from './pending-prompt.js'
export { lifeOfRun } from './run-life.js'
export { Terminals } from './terminals.js'
export { type SocketFacts, socketOfHome, tmuxSocket } from './tmux-socket.js'
