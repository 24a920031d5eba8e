import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeAtomic } from '../disk/index.js'
import type { DaemonPlace } from './place.js'
import { livingDaemon } from './record.js'
import { type Counted, segmentOf } from './segment.js'

/** Keeps the segment where `skein statusline` reads it. */
export function keepSegment({ statusline }: Pick<DaemonPlace, 'statusline'>, segment: string): void {
  writeAtomic(statusline, segment, { durable: false })
}

/**
 * The segment for a status line, in two small reads while a daemon runs. Without one it is counted from what was stored of the
 * agents of this profile. No home is opened: prompts ask for this on every line.
 */
export function readSegment(place: Pick<DaemonPlace, 'statusline' | 'record'>, profileDirectory: string): string {
  if (livingDaemon(place)) {
    const kept = textOf(place.statusline)
    if (kept !== undefined) return kept
  }
  return segmentOf(storedAgents(join(profileDirectory, 'agents')))
}

function storedAgents(directory: string): Counted[] {
  return namesIn(directory).flatMap((name) => {
    if (!name.endsWith('.json') || name.startsWith('.')) return []
    try {
      const run: unknown = JSON.parse(textOf(join(directory, name)) ?? '')
      return isCounted(run) ? [{ status: run.status.status, archived_at: run.archived_at }] : []
    } catch {
      return [] // damaged: whoever opens the home repairs it
    }
  })
}

function isCounted(run: unknown): run is { status: { status: string }; archived_at?: string } {
  if (typeof run !== 'object' || run === null || !('status' in run)) return false
  const { status } = run
  return typeof status === 'object' && status !== null && 'status' in status && typeof status.status === 'string'
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch {
    return []
  }
}
