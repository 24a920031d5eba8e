export type { AgentRun, Binding, Launching, LiveRun, Recipe } from './agent-run.js'
export { AgentRuns, type RunChange } from './agent-runs.js'
export { viewsOf } from './agent-view.js'
export type { Agents, AgentView, Explanation, Receipt, RecordedScreen, SendReceipt, StartAgent } from './agents.js'
export { decideStatus, type Sighting, START_GRACE_MS, type Verdict, waitToken } from './decide-status.js'
export { activityOf, mergeTold } from './evidence.js'
export { takeIn } from './intake.js'
export { type Observed, observe } from './observe.js'
export {
  agentsOf,
  type ConfiguredAgents,
  configuredParts,
  type OpenAgents,
  openAgents,
  partsOf,
} from './open-agents.js'
export type { Parts } from './parts.js'
export { Terminals } from './terminals.js'
export { type SocketFacts, socketOfHome } from './tmux-socket.js'
