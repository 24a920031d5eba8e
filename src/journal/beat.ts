import { rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { makeDirectory, namesIn, readPlain, statOf, writeAtomic } from '../disk/index.js'
import { type Instant, instantOf, isInstant, readJson } from '../model/index.js'

/** The last command of Skein that a run of an agent typed: a sign that it lives. One small file per run, replaced each time. */
export interface Beat {
  at: Instant
  command: string
}

/** As Skein makes ids of runs: anything else could be a path. */
const RUN = /^[0-9A-Za-z][0-9A-Za-z_-]{0,79}$/

/** Best effort and without waiting for the disk: no command fails or takes longer because of it. */
export function touchBeat(directory: string, run: string, command: string, nowMs: number): void {
  if (!RUN.test(run) || statOf(dirname(directory)) === undefined) return // it must not begin a home
  try {
    makeDirectory(directory)
    const beat: Beat = { at: instantOf(nowMs), command }
    writeAtomic(join(directory, run), `${JSON.stringify(beat)}\n`, { durable: false })
  } catch {
    // A home that cannot be written to is reported by whoever has to write.
  }
}

export function readBeat(directory: string, run: string): Beat | undefined {
  if (!RUN.test(run)) return undefined
  try {
    const value = readJson(readPlain(join(directory, run))?.toString() ?? '') as Partial<Beat> | undefined
    return value && isInstant(value.at) && typeof value.command === 'string' ? (value as Beat) : undefined
  } catch {
    return undefined
  }
}

/** Removes the beats of runs that are over. */
export function sweepBeats(directory: string, live: ReadonlySet<string>): void {
  for (const name of namesIn(directory))
    if (!live.has(name.split('.')[0] ?? '')) rmSync(join(directory, name), { force: true })
}
