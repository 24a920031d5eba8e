import { claude } from '../claude/claude.js'
import { codex } from '../codex/codex.js'
import { gemini } from '../gemini/gemini.js'
import { openclaw } from '../openclaw/openclaw.js'
import { opencode } from '../opencode/opencode.js'
import { pi } from '../pi/pi.js'
import { plain } from '../plain/plain.js'
import { qwen } from '../qwen/qwen.js'
import type { LogTool } from './log-tool.js'

/** Every tool whose logs we read. Apart from those that we run: a command that looks at agents reads no log. */
export const LOG_TOOLS: readonly LogTool[] = [claude, codex, gemini, opencode, pi, qwen, openclaw, plain]
