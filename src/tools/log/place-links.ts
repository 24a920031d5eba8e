import { rmSync, symlinkSync } from 'node:fs'
import { dirname } from 'node:path'
import { makeDirectory } from '../../disk/index.js'
import type { Link } from '../run/tool-runner.js'

/** Makes the links that a start needs. What stood in their place goes: it was a link of an earlier start, or took the place of one. */
export function placeLinks(links: readonly Link[]): void {
  for (const { path, target, isDirectory } of links) {
    makeDirectory(dirname(path))
    if (isDirectory) makeDirectory(target)
    rmSync(path, { force: true, recursive: true })
    symlinkSync(target, path)
  }
}
