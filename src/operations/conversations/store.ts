import { join } from 'node:path'
import {
  ConversationStore,
  type Conversations,
  KEY_KINDS,
  parseAgentName,
  parseKey,
} from '../../conversations/index.js'
import { SkeinError } from '../../model/index.js'
import type { OperationContext } from '../context.js'
import { optional, repeated, required } from '../field.js'
import { choice, path, text } from '../kind.js'

/** Which store an operation works on. */
export const STORE = {
  files: optional(
    path('directory', 'directory'),
    "Work on the sessions.json files below this directory, not on the profile's own store",
  ),
}

/** Which of its conversations. */
export const FILTERS = {
  agent: optional(text('agent'), 'Only conversations of this agent'),
  kind: optional(choice('kind', KEY_KINDS), 'Only conversations of this kind'),
}

const conversationKey = text('key')

export const KEY = required(conversationKey, 'Its key')
export const KEYS = repeated(conversationKey, 'Which ones')
export const REVISION = optional(text('revision'), 'Only if this is still its revision')

export async function openConversations(
  { files }: { readonly files: string | undefined },
  { home, configFile }: Pick<OperationContext, 'home' | 'configFile'>,
): Promise<ConversationStore> {
  if (files !== undefined) return new ConversationStore({ directory: files, backend: 'files', configFile })
  return new ConversationStore({ directory: join((await home()).directory, 'conversations'), configFile })
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
