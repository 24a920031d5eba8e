import { mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Link } from './runner.js'

/** Makes the links that a start needs. What stood in their place goes: it was a link of an earlier start, or took the place of one. */
export function placeLinks(links: readonly Link[]): void {
  for (const { path, target, isDirectory } of links) {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    if (isDirectory) mkdirSync(target, { recursive: true, mode: 0o700 })
    rmSync(path, { force: true, recursive: true })
    symlinkSync(target, path)
  }
}
