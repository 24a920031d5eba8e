import { closeSync, constants, openSync, readdirSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { DaemonPlace } from './place.js'
import { livingDaemon } from './record.js'
import { type Counted, segmentOf } from './segment.js'

/** Longer than any segment. */
const KEPT_BYTES = 64

/**
 * Keeps the segment where `skein statusline` reads it. Always the same length and one write, so that readers see the old one or the new one:
 * replacing the file would make some file systems wait for the disk, and every change of every agent comes by here.
 */
export function keepSegment({ statusline }: Pick<DaemonPlace, 'statusline'>, segment: string): void {
  const bytes = Buffer.alloc(KEPT_BYTES, ' ')
  bytes.write(segment)
  const file = openSync(statusline, constants.O_WRONLY | constants.O_CREAT, 0o600)
  try {
    writeSync(file, bytes, 0, KEPT_BYTES, 0)
  } finally {
    closeSync(file)
  }
}

/**
 * The segment for a status line, in two small reads while a daemon runs. Without one it is counted from what was stored of the
 * agents of this profile. No home is opened: prompts ask for this on every line.
 */
export function readSegment(place: Pick<DaemonPlace, 'statusline' | 'record'>, profileDirectory: string): string {
  if (livingDaemon(place)) {
    const kept = textOf(place.statusline)
    if (kept !== undefined) return kept.trimEnd()
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
