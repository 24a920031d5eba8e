import { closeSync, readSync } from 'node:fs'
import { openPlain } from '../disk/index.js'
import { isNewer } from '../model/index.js'

const HEAD = Buffer.alloc(64)

/** Whether a newer Skein wrote a JSON file. Every version writes `v` first, so a few bytes tell: this is asked before files are replaced. */
export function isNewerFile(path: string, ours: number): boolean {
  const file = openPlain(path)
  if (file === undefined) return false
  try {
    const length = readSync(file, HEAD, 0, HEAD.length, 0)
    const v = /^\s*\{\s*"v"\s*:\s*(\d{1,9})\s*[,}]/.exec(HEAD.toString('latin1', 0, length))?.[1]
    return v !== undefined && isNewer(Number(v), ours)
  } finally {
    closeSync(file)
  }
}
