export { capturedSession, resumeCaptured } from './custom/captured-session.js'
export { type CustomTool, parseCustomTools } from './custom/custom-tool.js'
export type { CutPoint, CutTarget } from './cut/cut.js'
export { keptTurns } from './cut/cut-point.js'
export { checkCut, cutLog, placeCut } from './cut/place-cut.js'
export type { Counters } from './log/counters.js'
export type { Checkpoint, Fact, Resume, SessionNews } from './log/fact.js'
export { foldSession } from './log/fold.js'
export { notingUnlisted, type UnlistedDirectory } from './log/log-files.js'
export type { Account, Environment, LogAbilities, LogRef, LogTool, ReadOptions, Succession } from './log/log-tool.js'
export { LOG_TOOL_NAMES } from './log/log-tool-names.js'
export { describeLogs, LOG_TOOLS } from './log/log-tools.js'
export { isReadableLog, isSparse, openLog } from './log/open-log.js'
export { placeLinks } from './log/place-links.js'
export { placeNew } from './log/place-new.js'
export { emptyTurn, type LoggedSession, type LoggedToolCall, type LoggedTurn, type TurnOutcome } from './log/turn.js'
export { turnParts } from './log/turn-parts.js'
export type { UsageReader, UsageReading, UsageRecord, UsageResume, UsageSource } from './log/usage-reader.js'
export { ConfigValue } from './run/config-value.js'
export { INSTALLED_FILE, type InstalledSkein, installedLine, isInstalledHook, OUTSIDE } from './run/hook-install.js'
export { HookSettings, JsonFault } from './run/json-edit.js'
export { commandWords, toolOfCommand } from './run/own-command.js'
export { findProgram, programPath } from './run/program.js'
export { resetTimeOf } from './run/reset-time.js'
export { RUNNERS, runnersFor } from './run/run-tools.js'
export type { Runners } from './run/runners.js'
export { settingsFiles } from './run/settings-files.js'
export type {
  AgentReport,
  AskedPermission,
  Dialog,
  DialogOption,
  HookAnswer,
  Launch,
  Preparation,
  RegistryEntry,
  RunAbilities,
  Screen,
  ScreenReading,
  ToolRunner,
} from './run/tool-runner.js'
export { WRAPPED } from './run/tool-runner.js'
export { failedTurn, troubleAtExit } from './run/trouble.js'
export { recordedScreen } from './screen/recorded-screen.js'
export { parseScreenRules, type ScreenRules } from './screen/rules.js'
export { type Conversation, conversationOf, type LeftOut } from './write/conversation.js'
export { RESULT_CHARS } from './write/dialect.js'
export { placeWritten } from './write/place.js'
export { refuseMisread } from './write/read-back.js'
export { commandIn } from './write/shell-command.js'
export type { ConversationWriter, Written } from './write/writer.js'
export { hasWriter, WRITERS, writerOf } from './write/writers.js'
