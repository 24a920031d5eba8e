import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseInstant, parseSessionId, type SessionId } from '../../../src/model/index.js'
import { type Environment, type LogRef, placeWritten, refuseMisread } from '../../../src/tools/index.js'
import { foldSession } from '../../../src/tools/log/fold.js'
import { type Conversation, conversationOf } from '../../../src/tools/write/conversation.js'
import { WRITTEN_RESULT_CHARS } from '../../../src/tools/write/dialect.js'
import type { Written } from '../../../src/tools/write/writer.js'
import { writerOf } from '../../../src/tools/write/writers.js'
import { toolNamed } from '../log-file.js'

export const NOW = parseInstant('2026-11-16T12:00:00.000Z') ?? fail()
function fail(): never {
  throw new Error('no time')
}
export const TOOLS = ['claude', 'codex', 'gemini', 'opencode', 'pi'] as const

/** A user's home in which the tools keep their logs where they usually do. */
export const homeAt = (home: string): Environment => ({ home, env: {} })

export interface Placed {
  written: Written
  log: LogRef
  /** As our own reader finds it. */
  read: Conversation
}

/** Writes a conversation for a tool, puts it in its place, and finds it as the tool's log. */
export function written(conversation: Conversation, tool: string, home: string, id?: SessionId): Placed {
  const writer = writerOf(tool)
  const environment = homeAt(home)
  const session = id ?? writer.newId('5f0c7e0a-11d4-4c52-9a3e-6f2b7d1c8e90')
  const target = { session, cwd: '/home/dev/project', environment, model: 'stub/stub-model', now: NOW }
  const made = writer.write(conversation, target)
  const log = made.import ? exportedLog(made, home) : placedLog(made, environment)
  const logged = foldSession([toolNamed(tool).read(log, { resultChars: WRITTEN_RESULT_CHARS })])
  return { written: made, log, read: conversationOf(logged, { tool, session }) }

  function placedLog(one: Written, where: Environment): LogRef {
    placeWritten(toolNamed(tool), one, NOW)
    const found = toolNamed(tool)
      .discover(where)
      .find((ref) => (ref.session ?? toolNamed(tool).identify(ref).id) === session)
    return found ?? fail()
  }

  function exportedLog(one: Written, directory: string): LogRef {
    const path = join(directory, one.files[0]?.path ?? '')
    writeFileSync(path, one.files[0]?.content ?? '')
    const ref = toolNamed(tool).logAt(path) ?? fail()
    refuseMisread(toolNamed(tool), ref, session, one.turns)
    return ref
  }
}

export const ANY_SESSION = parseSessionId('0e5b5c3c-8f3f-4a58-8a4e-1f1a86b0f3aa')
