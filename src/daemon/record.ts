import { readFileSync, rmSync } from 'node:fs'
import { lifeOf, type ProcessOwner, writeAtomic } from '../disk/index.js'
import type { Instant } from '../model/index.js'
import type { DaemonPlace } from './place.js'

/** Raised when a client of the last version could not talk to a daemon of this one. */
export const API_VERSION = 1

/** What a daemon leaves on the disk so that others find it. Only the lock says whether it really lives. */
export interface DaemonRecord extends ProcessOwner {
  v: 1
  version: string
  api: number
  socket: string
  started_at: Instant
}

export function readRecord({ record }: Pick<DaemonPlace, 'record'>): DaemonRecord | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(record, 'utf8'))
    return isRecord(value) ? value : undefined
  } catch {
    return undefined // there is none, or it is damaged: then nobody is there who could be talked to
  }
}

export function writeRecord({ record }: DaemonPlace, value: DaemonRecord): void {
  writeAtomic(record, `${JSON.stringify(value)}\n`, { durable: false })
}

/** Takes the record away if it is still the one of that process. */
export function removeRecord(place: DaemonPlace, owner: ProcessOwner): void {
  const found = readRecord(place)
  if (found?.pid === owner.pid && found.starttime === owner.starttime) rmSync(place.record, { force: true })
}

/** The daemon that runs now, by its record: this very process, not one that got its number later. */
export function livingDaemon(place: Pick<DaemonPlace, 'record'>): DaemonRecord | undefined {
  const record = readRecord(place)
  return record && lifeOf(record) === 'alive' ? record : undefined
}

function isRecord(value: unknown): value is DaemonRecord {
  if (typeof value !== 'object' || value === null) return false
  const { pid, starttime, version, api, socket, started_at } = value as Partial<Record<keyof DaemonRecord, unknown>>
  return (
    isWhole(pid) &&
    pid > 1 &&
    pid < 2 ** 31 &&
    (starttime === undefined || isWhole(starttime)) &&
    typeof version === 'string' &&
    Number.isInteger(api) &&
    typeof socket === 'string' &&
    typeof started_at === 'string'
  )
}

const isWhole = (value: unknown): value is number => Number.isSafeInteger(value)

/** Negative when `a` is older. Versions are three numbers; what follows a dash comes before the release it leads to. */
export function compareVersions(a: string, b: string): number {
  const [coreA = '', preA] = a.split('-', 2)
  const [coreB = '', preB] = b.split('-', 2)
  const partsB = coreB.split('.')
  for (const [at, part] of coreA.split('.').entries()) {
    const difference = Number.parseInt(part, 10) - Number.parseInt(partsB[at] ?? '0', 10)
    if (difference !== 0 && !Number.isNaN(difference)) return difference
  }
  if (preA === preB) return 0
  if (preA === undefined || preB === undefined) return preA === undefined ? 1 : -1
  return preA < preB ? -1 : 1
}
