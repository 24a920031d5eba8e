import { claude } from './claude.js'
import { codex } from './codex.js'
import { gemini } from './gemini.js'
import { opencode } from './opencode.js'
import { pi } from './pi.js'
import type { RealTool } from './real-tool.js'

export const REAL_TOOLS: readonly RealTool[] = [claude, codex, gemini, opencode, pi]
