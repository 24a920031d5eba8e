import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { explainDiskError, writeAtomic } from '../disk/index.js'
import { SkeinError } from '../model/index.js'
import type { AgentName } from './agent-name.js'
import type { Conversations } from './conversations.js'
import { entryForOpenClaw, keyForOpenClaw } from './openclaw-layout.js'
import type { ConversationStore } from './store.js'
import { type SessionStore, writeStore } from './store-file.js'
import { parseTranscript, TRANSCRIPT_VERSION } from './transcript-format.js'
import { transcriptOf, transcriptsOf } from './transcript-name.js'

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
      throw new SkeinError('bad-input', `There is a store already: ${path}`, 'Choose an empty directory')
  }
  const receipts: AgentExport[] = []
  for (const conversations of agents) receipts.push(await exportAgent(conversations, target(conversations)))
  return receipts
}

async function exportAgent(conversations: Conversations, sessions: string): Promise<AgentExport> {
  const theirs: SessionStore = Object.create(null)
  let transcripts = 0
  for (const { key, entry } of await conversations.list()) {
    const own = transcriptOf(conversations.directory, entry)
    const files = new Set([
      ...transcriptsOf(conversations.directory, entry.sessionId),
      ...(existsSync(own) ? [own] : []),
    ])
    for (const file of files) copyTranscript(file, sessions)
    transcripts += files.size
    theirs[keyForOpenClaw(key)] = entryForOpenClaw(entry, files.has(own) ? join(sessions, basename(own)) : undefined)
  }
  const path = join(sessions, 'sessions.json')
  writeStore(path, theirs) // last: while it is missing, this is no store
  return { agent: conversations.agent, store: path, entries: Object.keys(theirs).length, transcripts }
}

/** In the newest version and without a torn tail: OpenClaw refuses older ones. */
function copyTranscript(from: string, sessions: string): void {
  const text = readFileSync(from, 'utf8')
  const { header, entries, storedVersion, tornTail, skippedLines } = parseTranscript(text, from)
  const isFine =
    storedVersion === TRANSCRIPT_VERSION && tornTail === undefined && skippedLines.length === 0 && text.endsWith('\n')
  write(
    join(sessions, basename(from)),
    isFine ? text : [header, ...entries].map((line) => `${JSON.stringify(line)}\n`).join(''),
  )
}

function write(path: string, text: string): void {
  try {
    mkdirSync(join(path, '..'), { recursive: true, mode: 0o700 })
    writeAtomic(path, text, { durable: false })
  } catch (error) {
    throw explainDiskError(error, path)
  }
}
