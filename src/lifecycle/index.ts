export type { AgentRun, Binding, LiveRun, Recipe } from './agent-run.js'
export type { Agents, AgentView, Explanation, Receipt, SendReceipt, StartAgent } from './agents.js'
