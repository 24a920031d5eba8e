import { SkeinError } from '../model/index.js'
import type { AgentName } from './agent-name.js'
import type { EntryPatch, SessionEntry } from './entry.js'
import type { Surroundings } from './environment.js'
import { type ConversationKey, conversationKey } from './key.js'
import type { Row } from './rows/rows.js'

export interface SpawnLimits {
  /** A conversation with people has depth 0; what it spawns has depth 1. */
  maxDepth: number
  /** Subagents of one conversation that are in the store at once. */
  maxChildren: number
}

export const DEFAULT_SPAWN_LIMITS: SpawnLimits = { maxDepth: 3, maxChildren: 20 }

export interface SpawnOptions {
  /** The worker's name in the key: `agent:main:subagent:<name>:<task>`. A random id when there is none. */
  name?: string
  task?: string
  label?: string
}

/** Why this conversation may not spawn now, or undefined. */
export function spawnRefusal(spawner: SessionEntry, children: number, limits: SpawnLimits): SkeinError | undefined {
  const depth = depthOf(spawner) + 1
  if (depth > limits.maxDepth) {
    const next = 'Do the work in the spawning conversation, or raise maxDepth'
    return new SkeinError(
      'spawn-refused',
      `A subagent here would have depth ${depth}; the limit is ${limits.maxDepth}`,
      next,
    )
  }
  if (children >= limits.maxChildren) {
    const next = 'Remove finished ones (skein conversations prune --kind subagent), or raise maxChildren'
    return new SkeinError(
      'spawn-refused',
      `This conversation has ${children} subagents; the limit is ${limits.maxChildren}`,
      next,
    )
  }
  return undefined
}

/** An entry that was spawned by a program that does not note the depth counts as one deep. */
const depthOf = (entry: SessionEntry): number => entry.spawnDepth ?? (entry.spawnedBy === undefined ? 0 : 1)

export function spawnedEntry(
  spawner: Row,
  agent: AgentName,
  { name, task, label }: SpawnOptions,
  { random }: Surroundings,
): { key: ConversationKey; patch: EntryPatch } {
  const id = [name ?? random.uuid(), ...(task === undefined ? [] : [task])].join(':')
  const key = conversationKey({ agent, kind: 'subagent', id })
  return { key, patch: { spawnedBy: spawner.key, spawnDepth: depthOf(spawner.entry) + 1, label: label ?? name } }
}
