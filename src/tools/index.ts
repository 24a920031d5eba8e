import { claude } from './claude/claude.js'
import { codex } from './codex/codex.js'
import type { LogTool } from './tool.js'

export type { Counters } from './counters.js'
export type { Checkpoint, Fact, Mark, PromptBy, Resume, SessionNews } from './fact.js'
export { foldSession } from './fold.js'
export type { Ability, Environment, LogAbilities, LogRef, LogTool, ReadOptions } from './tool.js'
export type { LoggedSession, LoggedToolCall, LoggedTurn, TurnOutcome } from './turn.js'

/** Every tool whose logs we read. */
export const LOG_TOOLS: readonly LogTool[] = [claude, codex]
