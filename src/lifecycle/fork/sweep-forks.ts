import { join } from 'node:path'
import { namesIn } from '../../disk/index.js'
import type { Parts } from '../parts.js'

/** Takes back forks and unpackings whose process was killed. Asked by every command that opens the agents: without one it is one look. */
export async function sweepForks(parts: Parts): Promise<void> {
  if (!namesIn(forksDirectory(parts)).some((name) => name.endsWith('.json'))) return
  const { ForkNotes } = await import('./fork-note.js')
  await new ForkNotes(parts).sweep()
}

/** Where the notes are. */
export const forksDirectory = ({ home }: Pick<Parts, 'home'>): string => join(home.paths.agents, 'forks')
