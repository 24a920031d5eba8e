// The logs of a generated corpus, with the stamps that say whether a log has changed.
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

export function* claudeLogs(root, { stamped = false } = {}) {
  yield* under(join(root, 'projects'), stamped)
}

function* under(directory, stamped) {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = `${directory}/${entry.name}`
    if (entry.isDirectory()) yield* under(path, stamped)
    else if (entry.name.endsWith('.jsonl')) yield { tool: 'claude', path, stamp: stamped ? stampOf(path) : '' }
  }
}

function stampOf(path) {
  const { ino, size, mtimeMs } = statSync(path)
  return `${ino} ${size} ${mtimeMs}`
}
