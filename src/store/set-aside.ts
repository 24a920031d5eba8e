import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { instantOf } from '../model/index.js'

/** Moves a file that cannot be used out of the way under a dated name, so that nothing is ever written over it. */
export function setAside(path: string, reason: string, nowMs: number): string {
  const stamp = dateStamp(nowMs)
  let kept = `${path}.${reason}-${stamp}`
  for (let copy = 2; existsSync(kept); copy += 1) kept = `${path}.${reason}-${stamp}-${copy}`
  renameSync(path, kept)
  return kept
}

/** For files that can be made again: a few damaged ones tell what happened, a hundred fill the disk. */
export function keepNewest(path: string, count: number): void {
  const directory = dirname(path)
  const kept = readdirSync(directory).filter((name) => name.startsWith(`${basename(path)}.set-aside-`))
  for (const name of kept.sort().slice(0, -count)) rmSync(join(directory, name), { force: true })
}

/** `20260117T083000Z` */
function dateStamp(nowMs: number): string {
  return instantOf(nowMs)
    .replace(/[-:]/g, '')
    .replace(/\.\d+Z$/, 'Z')
}
