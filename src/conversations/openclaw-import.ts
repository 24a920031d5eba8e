import { closeSync, existsSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import {
  copyGuarded,
  explainDiskError,
  makeDirectory,
  openGuarded,
  readGuarded,
  UnsuitableFile,
} from '../disk/index.js'
import { isSessionId } from '../model/index.js'
import type { AgentName } from './agent-name.js'
import type { Conversations } from './conversations.js'
import type { SessionEntry } from './entry.js'
import type { ConversationKey } from './key.js'
import { entryFromOpenClaw, findOpenClawAgents, keyFromOpenClaw, type OpenClawAgent } from './openclaw-layout.js'
import type { ConversationStore } from './store.js'
import { oddKeysIn, readStore, type SessionStore } from './store-file.js'
import { TRANSCRIPT_GUARD } from './transcript-file.js'

export interface ImportOptions {
  /** What to do about a conversation that is here already. */
  onExisting?: 'keep' | 'replace'
  dryRun?: boolean
}

export interface AgentImport {
  agent: AgentName
  imported: ConversationKey[]
  transcripts: number
  skipped: { key: string; because: string }[]
}

/** Copies OpenClaw's conversations into a store. Nothing at the source is changed. */
export async function importOpenClaw(
  store: ConversationStore,
  directory: string,
  options: ImportOptions = {},
): Promise<AgentImport[]> {
  const receipts: AgentImport[] = []
  for (const source of findOpenClawAgents(directory))
    receipts.push(await importAgent(store.open(source.agent), source, options))
  return receipts
}

async function importAgent(
  conversations: Conversations,
  source: OpenClawAgent,
  options: ImportOptions,
): Promise<AgentImport> {
  const { chosen, skipped } = choose(readStore(join(source.sessions, 'sessions.json')), source.agent)
  const names = readdirSync(source.sessions)
  const wanted: { key: ConversationKey; entry: SessionEntry; files: string[] }[] = []
  for (const [key, entry] of chosen) {
    const isHere = (await conversations.get(key)) !== undefined
    if (isHere && options.onExisting !== 'replace') skipped.push({ key, because: 'it is here already' })
    else {
      const files = transcriptNames(names, entry.sessionId)
      const odd = files.map((name) => flawOfTranscript(join(source.sessions, name))).find((flaw) => flaw !== undefined)
      if (odd === undefined) wanted.push({ key, entry, files })
      else skipped.push({ key, because: odd })
    }
  }
  const imported = wanted.map(({ key }) => key)
  const files = wanted.flatMap((one) => one.files)
  if (options.dryRun) return { agent: source.agent, imported, transcripts: files.length, skipped }
  // Transcripts first: an entry that is seen has its transcript.
  const copied = files.filter((name) => copyTranscript(join(source.sessions, name), conversations.directory))
  const refused = await conversations.adopt(
    wanted.map(({ key, entry }) => ({ key, entry: withTranscript(entry, names, conversations.directory) })),
  )
  return {
    agent: source.agent,
    imported: imported.filter((key) => !refused.has(key)),
    transcripts: copied.length,
    skipped: [...skipped, ...[...refused].map(([key, because]) => ({ key, because }))],
  }
}

/** What can be taken. Of two spellings of one key, the one that was used last. */
function choose(found: SessionStore, agent: AgentName) {
  const chosen = new Map<ConversationKey, SessionEntry>()
  const skipped = oddKeysIn(found).map((key) => ({ key, because: 'it is no entry, or its session id is malformed' }))
  for (const spelled of Object.keys(found)) {
    const entry = found[spelled]
    if (!entry) continue
    try {
      const key = keyFromOpenClaw(spelled, agent)
      if (!isSessionId(entry.sessionId)) throw new Error('its session id could name a file elsewhere')
      const rival = chosen.get(key)
      if (rival) skipped.push({ key: spelled, because: `another spelling of ${key}` })
      if (!rival || entry.updatedAt > rival.updatedAt) chosen.set(key, entry)
    } catch (error) {
      skipped.push({ key: spelled, because: (error as Error).message })
    }
  }
  return { chosen, skipped }
}

/** A session's own transcript, those of its topics, and what was put away of either. */
const transcriptNames = (names: readonly string[], sessionId: string): string[] =>
  names.filter((name) => {
    if (!name.startsWith(sessionId)) return false
    return /^(-topic-[A-Za-z0-9._~%!'()*-]+)?\.jsonl(\.(reset|deleted|bak)\.[0-9TZ.-]+)?$/.test(
      name.slice(sessionId.length),
    )
  })

/** Why a transcript cannot be copied: a link may lead to any file of the user's, which nobody asked to import. */
function flawOfTranscript(path: string): string | undefined {
  try {
    closeSync(openGuarded(path, TRANSCRIPT_GUARD))
    return undefined
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return `its transcript ${basename(path)} ${error instanceof UnsuitableFile ? `is ${code}` : `cannot be read (${code})`}`
  }
}

/** True when it is there afterwards as it was at the source. An equal one is left; another one is never replaced. */
function copyTranscript(from: string, directory: string): boolean {
  const to = join(directory, basename(from))
  try {
    makeDirectory(directory)
    if (existsSync(to)) return readGuarded(from, TRANSCRIPT_GUARD).equals(readGuarded(to, TRANSCRIPT_GUARD))
    copyGuarded(from, to, TRANSCRIPT_GUARD)
    return true
  } catch (error) {
    throw explainDiskError(error, to)
  }
}

/** The path noted at the source is of another place, often of another machine. Its name is kept where it is needed. */
function withTranscript(entry: SessionEntry, names: readonly string[], directory: string): SessionEntry {
  const name = entry.sessionFile === undefined ? undefined : basename(entry.sessionFile)
  const isNeeded =
    name !== undefined && name !== `${entry.sessionId}.jsonl` && transcriptNames(names, entry.sessionId).includes(name)
  return { ...entryFromOpenClaw(entry), ...(isNeeded ? { sessionFile: join(directory, name) } : {}) }
}
