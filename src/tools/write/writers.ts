import { SkeinError } from '../../model/index.js'
import { claudeWriter } from '../claude/claude-writer.js'
import { codexWriter } from '../codex/codex-writer.js'
import { geminiWriter } from '../gemini/gemini-writer.js'
import { opencodeWriter } from '../opencode/opencode-writer.js'
import { piWriter } from '../pi/pi-writer.js'
import type { ConversationWriter } from './writer.js'

/** The tools that a conversation of any tool can be continued in. */
export const WRITERS: readonly ConversationWriter[] = [
  claudeWriter,
  codexWriter,
  geminiWriter,
  opencodeWriter,
  piWriter,
]

export const hasWriter = (tool: string): boolean => WRITERS.some((writer) => writer.tool === tool)

export function writerOf(tool: string): ConversationWriter {
  const found = WRITERS.find((writer) => writer.tool === tool)
  if (found) return found
  const names = WRITERS.map((writer) => writer.tool).join(', ')
  throw new SkeinError(
    'bad-input',
    `Skein cannot write a conversation for ${JSON.stringify(tool.slice(0, 80))}`,
    `Use one of ${names}, or hand the work over: skein handoff`,
  )
}
