import { type Dirent, lstatSync, readdirSync, type Stats, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { guardedText, kindOf, refuseDead, statOf } from '../../disk/index.js'
import { instantOf, isSessionId, type SessionId } from '../../model/index.js'
import { isObject, type JsonObject } from '../json-value.js'
import type { LogRef } from './log-tool.js'

/** A directory in which logs may be, and why that cannot be told. */
export interface UnlistedDirectory {
  path: string
  reason: string
}

/** By path: some directories are looked into twice. */
let unlisted: Map<string, string> | undefined

/** With the directories that could not be listed while it looked. Looking is one call that waits for nothing, so they are its own. */
export function notingUnlisted<Found>(look: () => Found): { found: Found; unlisted: UnlistedDirectory[] } {
  const before = unlisted
  const noted = new Map<string, string>()
  unlisted = noted
  try {
    const found = look()
    return { found, unlisted: Array.from(noted, ([path, reason]) => ({ path, reason })) }
  } finally {
    unlisted = before
  }
}

/** What is in a directory, links followed; nothing when it is not there or not ours to read. */
export function listDirectory(path: string): { name: string; path: string; isDirectory: boolean }[] {
  let entries: Dirent[]
  try {
    refuseDead(path)
    entries = readdirSync(path, { withFileTypes: true })
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException
    if (!NOT_THERE.has(code)) unlisted?.set(path, code)
    return []
  }
  return entries.map((entry) => {
    const full = join(path, entry.name)
    const isDirectory = entry.isSymbolicLink() ? (statOf(full)?.isDirectory() ?? false) : entry.isDirectory()
    return { name: entry.name, path: full, isDirectory }
  })
}

const NOT_THERE: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR'])

/** Every file below a directory that passes, to a depth that no tool exceeds: a link that points up must not loop. */
export function filesBelow(path: string, wanted: (name: string) => boolean, depth = 4): string[] {
  return listDirectory(path).flatMap((entry) => {
    if (entry.isDirectory) return depth > 0 ? filesBelow(entry.path, wanted, depth - 1) : []
    return wanted(entry.name) ? [entry.path] : []
  })
}

/** A log that is one file. Undefined when there is no such file (any more). */
export function fileLog(
  tool: string,
  root: string,
  path: string,
  known: { session?: string | undefined; agent?: string | undefined } = {},
): LogRef | undefined {
  const stat = statOfLog(path)
  if (!stat) return undefined
  return {
    tool,
    path,
    root,
    ...(isSessionId(known.session) ? { session: known.session } : {}),
    ...(known.agent ? { agent: known.agent } : {}),
    size: stat.size,
    modified_at: instantOf(Math.min(Math.max(0, stat.mtimeMs), 253_402_300_799_999)),
    stamp: `${stat.dev}:${stat.ino}:${stat.size}:${stat.mtimeMs}`,
  }
}

/** Of a file. What cannot be a log although it has the name of one is noted: it must not look like a log that is not there. */
function statOfLog(path: string): Stats | undefined {
  try {
    refuseDead(path)
    const stat = statSync(path, { throwIfNoEntry: false })
    if (stat?.isFile()) return stat
    if (stat) unlisted?.set(path, `${kindOf(stat)}, not a file`)
    else if (unlisted && lstatSync(path, { throwIfNoEntry: false })) unlisted.set(path, 'a dangling link')
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException
    if (!NOT_THERE.has(code)) unlisted?.set(path, code)
  }
  return undefined
}

/** One file reached by two roots (a link, a root given twice) is one log. */
export function withoutDoubles(logs: readonly (LogRef | undefined)[]): LogRef[] {
  const seen = new Map<string, LogRef>()
  for (const log of logs) {
    if (!log) continue
    const key = `${log.stamp}/${log.session ?? ''}/${log.agent ?? ''}`
    if (!seen.has(key)) seen.set(key, log)
  }
  return [...seen.values()]
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
export const isUuid = (text: string): boolean => UUID.test(text)

/** An id for a log whose own cannot be read: the name of its file, with what ids may not hold replaced. */
export function idFromName(path: string): SessionId {
  const stem = basename(path).replace(/\.jsonl?$/, '')
  const id = stem
    .replace(/[^A-Za-z0-9._-]/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 128)
  return (isSessionId(id) ? id : 'unnamed') as SessionId
}

const SMALL_BYTES = 4 * 1024 * 1024

/** A small JSON file beside a log; undefined when it is missing, damaged or suspiciously large. */
export function smallJson(path: string): JsonObject | undefined {
  const text = statOf(path) && guardedText(path, SMALL_BYTES) // most are not there, which `stat` says more quickly
  if (text === undefined) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
