import { join, resolve } from 'node:path'
import {
  ConversationStore,
  type Conversations,
  KEY_KINDS,
  parseAgentName,
  parseKey,
} from '../../conversations/index.js'
import { SkeinError } from '../../model/index.js'
import { choice, directory, optional, text } from '../../operations/index.js'
import type { Cli } from '../command.js'

/** Which store a command works on. */
export const STORE_OPTIONS = {
  files: optional(directory, "Work on the sessions.json files below this directory, not on the profile's own store"),
}

/** Which of its conversations. */
export const CONVERSATION_OPTIONS = {
  agent: optional(text('agent'), 'Only conversations of this agent'),
  kind: optional(choice('kind', KEY_KINDS), 'Only conversations of this kind'),
}

export const conversationKey = text('key')

export async function openConversations(
  cli: Cli,
  { files }: { files: string | undefined },
): Promise<ConversationStore> {
  const { configFile } = cli.daemon
  if (files !== undefined)
    return new ConversationStore({ directory: resolve(cli.cwd, files), backend: 'files', configFile })
  return new ConversationStore({ directory: join((await cli.home()).directory, 'conversations'), configFile })
}

/** The agents to look at: the one that was named, or all. Naming one that is not there must not make it. */
export function agentsOf(store: ConversationStore, agent: string | undefined): Conversations[] {
  const known = store.agents()
  if (agent === undefined) return known.map((name) => store.open(name))
  const name = parseAgentName(agent)
  return known.includes(name) ? [store.open(name)] : []
}

/** The conversations of the agent that a key names. */
export function ownerOf(store: ConversationStore, key: string): Conversations {
  const parts = parseKey(key)
  const [conversations] = agentsOf(store, parts.agent)
  if (conversations) return conversations
  throw new SkeinError(
    'conversation-not-found',
    `There is no conversation ${parts.key}`,
    'Try: skein conversations list',
  )
}
