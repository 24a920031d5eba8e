import { claude } from '../claude/claude.js'
import { codex } from '../codex/codex.js'
import type { CustomTool } from '../custom/custom-tool.js'
import { describedLogTool } from '../custom/described-log.js'
import { gemini } from '../gemini/gemini.js'
import { openclaw } from '../openclaw/openclaw.js'
import { opencode } from '../opencode/opencode.js'
import { pi } from '../pi/pi.js'
import { plain } from '../plain/plain.js'
import { qwen } from '../qwen/qwen.js'
import type { LogTool } from './log-tool.js'

const tools: LogTool[] = [claude, codex, gemini, opencode, pi, qwen, openclaw, plain]

/**
 * Every tool whose logs we read, the described ones of all open homes included. Apart from those that we run: a command that looks at
 * agents reads no log.
 */
export const LOG_TOOLS: readonly LogTool[] = tools

/** Adds the tools whose logs a configuration describes, as it does now. Returns their names, for `Environment.described`. */
export function describeLogs(described: readonly Pick<CustomTool, 'name' | 'log'>[]): string[] {
  return described.flatMap(({ name, log }) => {
    if (!log) return []
    const tool = describedLogTool(name, log)
    const at = tools.findIndex((one) => one.name === name)
    if (at < 0) tools.push(tool)
    else tools[at] = tool
    return [name]
  })
}
