import { claude } from './claude/claude.js'
import { claudeRunner } from './claude/claude-runner.js'
import { codex } from './codex/codex.js'
import { codexRunner } from './codex/codex-runner.js'
import { gemini } from './gemini/gemini.js'
import { geminiRunner } from './gemini/gemini-runner.js'
import { openclaw } from './openclaw/openclaw.js'
import { opencode } from './opencode/opencode.js'
import { opencodeRunner } from './opencode/opencode-runner.js'
import { pi } from './pi/pi.js'
import { piRunner } from './pi/pi-runner.js'
import { plain } from './plain/plain.js'
import { qwen } from './qwen/qwen.js'
import type { ToolRunner } from './runner.js'
import { Runners, type ToolSettings } from './runners.js'
import type { LogTool } from './tool.js'

export { answerCodex, codexControlSocket } from './codex/codex-control.js'
export type { Counters } from './counters.js'
export { capturedSession, resumeCaptured } from './custom/captured-session.js'
export { type CustomTool, parseCustomTools } from './custom/custom-tool.js'
export type { Checkpoint, Fact, Mark, PromptBy, Resume, SessionNews } from './fact.js'
export { foldSession } from './fold.js'
export { placeLinks } from './place-links.js'
export { findProgram, type Program } from './program.js'
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
export { failedTurn } from './trouble.js'
export type { LoggedSession, LoggedToolCall, LoggedTurn, Remark, TurnOutcome } from './turn.js'
export { turnParts } from './turn-parts.js'

/** Every tool whose logs we read. */
export const LOG_TOOLS: readonly LogTool[] = [claude, codex, gemini, opencode, pi, qwen, openclaw, plain]

/** Every tool that we can run. */
export const RUNNERS: readonly ToolRunner[] = [claudeRunner, codexRunner, geminiRunner, opencodeRunner, piRunner]

export function runnersFor(settings: ToolSettings): Runners {
  return new Runners(RUNNERS, settings)
}
export { notingUnlisted, type UnlistedDirectory } from './log-files.js'
export { isReadableLog, isSparse, openLog } from './open-log.js'
export { recordsInTornLine } from './torn-line.js'
