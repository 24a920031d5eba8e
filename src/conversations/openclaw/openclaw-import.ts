import { basename, join } from 'node:path'
import { isSessionId } from '../../model/index.js'
import type { AgentName } from '../agent-name.js'
import type { Conversations } from '../conversations.js'
import type { SessionEntry } from '../entry.js'
import { type ConversationKey, parseKey } from '../key.js'
import { oddKeysIn, type SessionStore } from '../rows/store-file.js'
import type { ConversationStore } from '../store.js'
import { transcriptName } from '../transcript/transcript-name.js'
import { entryFromOpenClaw, findOpenClawAgents, keyFromOpenClaw } from './openclaw-layout.js'
import { type OpenClawSource, openOpenClaw, type SourceTranscript } from './openclaw-source.js'

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
  const sources: { agent: AgentName; source: OpenClawSource }[] = []
  try {
    // All are opened first: one that is damaged must not leave half of the agents imported.
    for (const place of findOpenClawAgents(directory)) sources.push({ agent: place.agent, source: openOpenClaw(place) })
    const receipts: AgentImport[] = []
    for (const { agent, source } of sources) {
      // Opening an agent makes its store; a dry run makes nothing.
      const isNew = options.dryRun === true && !store.agents().includes(agent)
      receipts.push(await importAgent(agent, isNew ? undefined : store.open(agent), source, options))
    }
    return receipts
  } finally {
    for (const { source } of sources) source[Symbol.dispose]()
  }
}

async function importAgent(
  agent: AgentName,
  conversations: Conversations | undefined,
  source: OpenClawSource,
  options: ImportOptions,
): Promise<AgentImport> {
  const { chosen, skipped } = choose(source.entries, agent)
  const wanted: { key: ConversationKey; entry: SessionEntry; transcripts: SourceTranscript[] }[] = []
  for (const [key, { spelled, entry }] of chosen) {
    const isHere = (await conversations?.get(key)) !== undefined
    const transcripts = source.transcriptsOf(key, spelled, entry)
    if (isHere && options.onExisting !== 'replace') skipped.push({ key, because: 'it already exists here' })
    else if (typeof transcripts === 'string') skipped.push({ key, because: transcripts })
    else wanted.push({ key, entry, transcripts })
  }
  const imported = wanted.map(({ key }) => key)
  const found = wanted.flatMap(({ transcripts }) => transcripts)
  if (options.dryRun || !conversations) return { agent, imported, transcripts: found.length, skipped }
  // Transcripts first: an entry that is seen has its transcript.
  const copied = found.filter(({ copyTo }) => copyTo(conversations.directory))
  const refused = await conversations.adopt(
    wanted.map(({ key, entry, transcripts }) => ({
      key,
      entry: withTranscript(key, entry, transcripts, conversations.directory),
    })),
  )
  return {
    agent,
    imported: imported.filter((key) => !refused.has(key)),
    transcripts: copied.length,
    skipped: [...skipped, ...[...refused].map(([key, because]) => ({ key, because }))],
  }
}

/** What can be taken. Of two spellings of one key, the one that was used last. */
function choose(found: SessionStore, agent: AgentName) {
  const chosen = new Map<ConversationKey, { spelled: string; entry: SessionEntry }>()
  const skipped = oddKeysIn(found).map((key) => ({
    key,
    because: 'it is not an entry, or its session id is malformed',
  }))
  for (const spelled of Object.keys(found)) {
    const entry = found[spelled]
    if (!entry) continue
    try {
      const key = keyFromOpenClaw(spelled, agent)
      if (!isSessionId(entry.sessionId)) throw new Error('its session id could name a file elsewhere')
      const rival = chosen.get(key)
      if (rival) skipped.push({ key: spelled, because: `another spelling of ${key}` })
      if (!rival || entry.updatedAt > rival.entry.updatedAt) chosen.set(key, { spelled, entry })
    } catch (error) {
      skipped.push({ key: spelled, because: (error as Error).message })
    }
  }
  return { chosen, skipped }
}

/** The path noted at the source is of another place, often of another machine. The name is kept where it is needed. */
function withTranscript(
  key: ConversationKey,
  entry: SessionEntry,
  transcripts: readonly SourceTranscript[],
  directory: string,
): SessionEntry {
  const noted = entry.sessionFile === undefined ? undefined : basename(entry.sessionFile)
  const names = transcripts.map(({ name }) => name)
  const usual = transcriptName(entry.sessionId, parseKey(key).thread)
  const name = noted !== undefined && names.includes(noted) ? noted : usual
  const isNeeded = name !== `${entry.sessionId}.jsonl` && names.includes(name)
  return { ...entryFromOpenClaw(entry), ...(isNeeded ? { sessionFile: join(directory, name) } : {}) }
}
