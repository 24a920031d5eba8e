import { readFileSync } from 'node:fs'

/** Deeper than this no agent starts programs; it also ends a walk through processes that change meanwhile. */
const MAX_DEPTH = 64

/** Whether a process descends from another, or is it. Undefined when it is gone, or where `/proc` is not. */
export function isWithinTree(pid: number, root: number): boolean | undefined {
  let at: number | undefined = pid
  for (let depth = 0; depth < MAX_DEPTH; depth += 1) {
    if (at === root) return true
    at = parentOf(at)
    if (at === undefined) return depth === 0 ? undefined : false
    if (at <= 1) return false
  }
  return false
}

/** The name in parentheses may hold anything, so fields count from its end. */
function parentOf(pid: number): number | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[1])
  } catch {
    return undefined
  }
}

/** The name a process shows, and the word it was started with. */
export function processNames(pid: number): string[] {
  try {
    const first = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')[0] ?? ''
    return [readFileSync(`/proc/${pid}/comm`, 'utf8').trim(), first].filter((name) => name !== '')
  } catch {
    return []
  }
}
