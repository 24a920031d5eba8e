import { join } from 'node:path'
import { makeDirectory, textIn, writeAtomic } from '../disk/index.js'
import { readJson, shapes } from '../model/index.js'

const { count, isObject, misfit, shape, time } = shapes

/** What the last upkeep found. A file, so that the next daemon knows when it was and whether anybody was warned. */
export interface UpkeepNote {
  at: string
  /** All snapshots of the profile, and what they may take. */
  bytes: number
  max_bytes: number
  /** Since when they take half of that. */
  warned_at?: string
}

const NOTE = shape({ at: time, bytes: count, max_bytes: count, 'warned_at?': time })
const FILE = 'upkeep.json'

/** Undefined when there was no upkeep yet, or its note cannot be read. */
export function readUpkeepNote(snapshots: string): UpkeepNote | undefined {
  const value = readJson(textIn(join(snapshots, FILE)) ?? '')
  return isObject(value) && value.v === 1 && misfit(value, NOTE) === undefined
    ? (value as unknown as UpkeepNote)
    : undefined
}

export function writeUpkeepNote(snapshots: string, note: UpkeepNote): void {
  makeDirectory(snapshots)
  writeAtomic(join(snapshots, FILE), JSON.stringify({ v: 1, ...note }), { durable: false })
}

/** One line for people while snapshots take half of what they may, or more. */
export function diskWarning({ bytes, max_bytes }: Pick<UpkeepNote, 'bytes' | 'max_bytes'>): string | undefined {
  if (bytes * 2 < max_bytes) return undefined
  return `Snapshots take ${megabytes(bytes)} of ${megabytes(max_bytes)} (turns.max_disk): skein snapshots stats`
}

const megabytes = (bytes: number): string => `${Math.round(bytes / 1_000_000).toLocaleString('en-US')} MB`
