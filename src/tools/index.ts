export { answerCodex, codexControlSocket } from './codex/codex-control.js'
export type { Counters } from './counters.js'
export { capturedSession, resumeCaptured } from './custom/captured-session.js'
export { type CustomTool, parseCustomTools } from './custom/custom-tool.js'
export type { Checkpoint, Fact, Mark, PromptBy, Resume, SessionNews } from './fact.js'
export { foldSession } from './fold.js'
export { notingUnlisted, type UnlistedDirectory } from './log-files.js'
export { LOG_TOOL_NAMES } from './log-tool-names.js'
export { LOG_TOOLS } from './log-tools.js'
export { isReadableLog, isSparse, openLog } from './open-log.js'
export { placeLinks } from './place-links.js'
export { findProgram, type Program } from './program.js'
export { RUNNERS, runnersFor } from './run-tools.js'
export type {
  Answer,
  AskedPermission,
  Capture,
  Dialog,
  DialogOption,
  Launch,
  Link,
  Preparation,
  Registry,
  RegistryEntry,
  RunAbilities,
  Screen,
  ScreenReading,
  Spool,
  SpoolMessage,
  Telling,
  TextCheck,
  ToolRunner,
} from './runner.js'
export { WRAPPED } from './runner.js'
export type { Runners, ToolSettings } from './runners.js'
export { recordedScreen } from './screen/recorded-screen.js'
export { parseScreenRules, type ScreenRules } from './screen/rules.js'
export type { Ability, Environment, LogAbilities, LogRef, LogTool, ReadOptions, Succession } from './tool.js'
export { recordsInTornLine } from './torn-line.js'
export { failedTurn } from './trouble.js'
export type { LoggedSession, LoggedToolCall, LoggedTurn, Remark, TurnOutcome } from './turn.js'
export { turnParts } from './turn-parts.js'
