import { lstatSync, readdirSync, type Stats } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { explainDiskError, isThere, refuseDead } from '../../disk/index.js'
import { SkeinError } from '../../model/index.js'
import { type AgentName, parseAgentName } from '../agent-name.js'
import type { SessionChatType, SessionEntry } from '../entry.js'
import { type ConversationKey, parseKey } from '../key.js'

/** Where OpenClaw keeps the conversations of one agent: in files (2026.1 to 2026.7.1), or in a database. */
export interface OpenClawAgent {
  agent: AgentName
  sessions: string
  database: string
}

/** Finds the agents below a state directory, an `agents` directory or one `sessions` directory. */
export function findOpenClawAgents(directory: string): OpenClawAgent[] {
  const root = resolve(directory)
  try {
    refuseDead(root)
    return findBelow(root)
  } catch (error) {
    throw explainDiskError(error, root)
  }
}

function findBelow(root: string): OpenClawAgent[] {
  if (isThere(join(root, 'sessions.json')) || isThere(join(root, DATABASE))) {
    const home = dirname(root)
    return [placeIn(dirname(home), basename(home))]
  }
  const agents = isThere(join(root, 'agents')) ? join(root, 'agents') : root
  const found = (isThere(agents) ? readdirSync(agents, { withFileTypes: true }) : [])
    .filter((entry) => entry.isDirectory())
    .map((entry) => placeIn(agents, entry.name))
    .filter(({ sessions, database }) => hasSessions(sessions) || isFile(database))
  if (found.length > 0) return found
  throw new SkeinError(
    'bad-input',
    `No agents/<id>/sessions/sessions.json and no agents/<id>/agent/${DATABASE} below ${root}`,
    'Name the state directory (~/.openclaw)',
  )
}

const DATABASE = 'openclaw-agent.sqlite'

const placeIn = (agents: string, name: string): OpenClawAgent => ({
  agent: parseAgentName(name),
  sessions: join(agents, name, 'sessions'),
  database: join(agents, name, 'agent', DATABASE),
})

/** A link in its place may lead out of what the user asked to import. */
function hasSessions(directory: string): boolean {
  const stat = unfollowed(directory)
  return (stat?.isDirectory() ?? false) && isThere(join(directory, 'sessions.json'))
}

const isFile = (path: string): boolean => unfollowed(path)?.isFile() ?? false

function unfollowed(path: string): Stats | undefined {
  refuseDead(path)
  return lstatSync(path, { throwIfNoEntry: false })
}

/** A key as found in a file, as ours. Bare keys ("main", "cron:x") are of the agent whose file it is. */
export function keyFromOpenClaw(spelled: string, agent: AgentName): ConversationKey {
  const parts = parseKey(/^agent:/i.test(spelled.trim()) ? spelled : `agent:${agent}:${spelled}`)
  if (parts.agent === agent) return parts.key
  throw new SkeinError('foreign-conversation', `it belongs to agent "${parts.agent}"`, 'Import that agent')
}

/** OpenClaw calls a dm "direct" since 2026.7. */
export const keyForOpenClaw = (key: ConversationKey): string =>
  parseKey(key).kind === 'dm' ? key.replace(/:dm:/, ':direct:') : key

export function entryFromOpenClaw(entry: SessionEntry): SessionEntry {
  const { sessionFile: _, ...named } = withChatType(entry, 'direct', 'dm')
  const rest = withKeys(named, (key) => parseKey(key).key)
  if (rest.sdkSessionId === undefined || rest.sdkSessionId !== rest.claudeCliSessionId) return rest
  const { claudeCliSessionId: __, cliSessionIds: ___, ...ours } = rest
  return ours
}

/** `sessionFile` only where there is one: a path to nothing counts as damage over there, no path does not. */
export function entryForOpenClaw(entry: SessionEntry, sessionFile: string | undefined): SessionEntry {
  const id = entry.sdkSessionId
  const legacy =
    id === undefined ? {} : { claudeCliSessionId: id, cliSessionIds: { ...entry.cliSessionIds, 'claude-cli': id } }
  const { sessionFile: _, ...rest } = withChatType(entry, 'dm', 'direct')
  return {
    ...withKeys(rest, (key) => keyForOpenClaw(parseKey(key).key)),
    ...legacy,
    ...(sessionFile === undefined ? {} : { sessionFile }),
  }
}

/** The conversations an entry names, in our spelling; what is not a key stays as it is. */
function withKeys(entry: SessionEntry, spell: (key: string) => string): SessionEntry {
  const respelled = { ...entry }
  for (const field of ['spawnedBy', 'parentSessionKey'] as const) {
    const key = entry[field]
    try {
      if (key !== undefined) respelled[field] = spell(key)
    } catch {
      // Another program's idea of a key: a note for people, nothing that we follow.
    }
  }
  return respelled
}

function withChatType(entry: SessionEntry, from: string, to: string): SessionEntry {
  const swap = <T extends { chatType?: SessionChatType }>(value: T): T =>
    value.chatType === from ? { ...value, chatType: to as SessionChatType } : value
  return { ...swap(entry), ...(entry.origin ? { origin: swap(entry.origin) } : {}) }
}
