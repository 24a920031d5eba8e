import { existsSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { explainDiskError, makeDirectory, writeAtomic } from '../../disk/index.js'
import { SkeinError } from '../../model/index.js'
import type { AgentName } from '../agent-name.js'
import type { Conversations } from '../conversations.js'
import { type SessionStore, writeStore } from '../rows/store-file.js'
import type { ConversationStore } from '../store.js'
import { readTranscript } from '../transcript/transcript-file.js'
import { namesIn, transcriptOf, transcriptsOf } from '../transcript/transcript-name.js'
import { entryForOpenClaw, keyForOpenClaw } from './openclaw-layout.js'

export interface AgentExport {
  agent: AgentName
  store: string
  entries: number
  transcripts: number
}

/**
 * Writes the conversations as OpenClaw 2026.7.1 keeps them: `agents/<id>/sessions/sessions.json` and transcripts. Newer
 * versions take the result over by themselves. A store that is there already is never touched.
 */
export async function exportOpenClaw(
  store: ConversationStore,
  directory: string,
  options: { agents?: readonly string[] } = {},
): Promise<AgentExport[]> {
  const agents = (options.agents ?? store.agents()).map((agent) => store.open(agent))
  const target = (conversations: Conversations) => join(resolve(directory), 'agents', conversations.agent, 'sessions')
  for (const conversations of agents) {
    const path = join(target(conversations), 'sessions.json')
    if (existsSync(path))
      throw new SkeinError('bad-input', `A store already exists: ${path}`, 'Choose an empty directory')
  }
  const receipts: AgentExport[] = []
  for (const conversations of agents) receipts.push(await exportAgent(conversations, target(conversations)))
  return receipts
}

async function exportAgent(conversations: Conversations, sessions: string): Promise<AgentExport> {
  const theirs: SessionStore = Object.create(null)
  let transcripts = 0
  const names = namesIn(conversations.directory)
  for (const { key, entry } of await conversations.list()) {
    const own = transcriptOf(conversations.directory, entry)
    const files = new Set([own, ...transcriptsOf(conversations.directory, entry.sessionId, names)])
    const copied = [...files].filter((file) => copyTranscript(file, sessions))
    transcripts += copied.length
    const sessionFile = copied.includes(own) ? join(sessions, basename(own)) : undefined
    theirs[keyForOpenClaw(key)] = entryForOpenClaw(entry, sessionFile)
  }
  const path = join(sessions, 'sessions.json')
  writeStore(path, theirs) // last: while it is missing, this is no store
  return { agent: conversations.agent, store: path, entries: Object.keys(theirs).length, transcripts }
}

/** In the newest version and without torn lines: OpenClaw refuses older ones. False when there is nothing to copy. */
function copyTranscript(from: string, sessions: string): boolean {
  const transcript = readTranscript(from)
  if (!transcript) return false
  const lines = [transcript.header, ...transcript.entries]
  write(join(sessions, basename(from)), lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  return true
}

function write(path: string, text: string): void {
  try {
    makeDirectory(join(path, '..'))
    writeAtomic(path, text, { durable: false })
  } catch (error) {
    throw explainDiskError(error, path)
  }
}
