import { join } from 'node:path'
import { guardedText } from '../disk/index.js'
import type { Snapshot } from './snapshot.js'

/** Of the record that git keeps of HEAD's moves, the end. */
const MOST_LOG_BYTES = 16 * 1024 * 1024
/** Git dates by the second. */
export const SLACK_MS = 2_000

/** A move of HEAD, in git's words: `commit (amend): …`, `cherry-pick: …`, `checkout: moving from …`. */
export interface HeadMove {
  to: string
  what: string
  atMs: number
}

/** A move that made a commit, and one that only took a commit over. */
const MAKES = /^(commit\b|cherry-pick\b|revert\b|am\b|merge\b|pull\b|rebase\b)/
const TAKES_OVER = /Fast-forward|^(pull|rebase)[^:]*\((start|finish)\)|^(pull|rebase).*: (checkout|returning)/

export const isMaking = ({ what }: HeadMove): boolean => MAKES.test(what) && !TAKES_OVER.test(what)

/** The logs that git keeps of the HEAD of each worktree, each read once. */
export class HeadLogs {
  readonly #read = new Map<string, HeadMove[] | undefined>()

  /** The moves between two snapshots of a worktree, oldest first; undefined where git writes nothing down. */
  between(before: Snapshot, after: Snapshot): HeadMove[] | undefined {
    const all = after.git_directory === undefined ? undefined : this.#movesIn(after.git_directory)
    if (!all) return undefined
    const [fromMs, toMs] = [Date.parse(before.as_of), Date.parse(after.as_of)]
    // Git dates by the second: where HEAD was at the prompt is the last move that is not of the turn, and where it was at the end the last that is.
    const end = all.findLastIndex(({ to, atMs }) => to === after.head && atMs <= toMs)
    const upTo = end < 0 ? all : all.slice(0, end + 1)
    const start = upTo.findLastIndex(({ to, atMs }, at) => at !== end && to === before.head && atMs <= fromMs)
    return upTo.slice(start + 1).filter(({ atMs }) => atMs > fromMs - SLACK_MS && atMs <= toMs + SLACK_MS)
  }

  #movesIn(gitDirectory: string): HeadMove[] | undefined {
    if (!this.#read.has(gitDirectory)) this.#read.set(gitDirectory, movesIn(gitDirectory))
    return this.#read.get(gitDirectory)
  }
}

/** The newest commits that HEAD of a worktree was at, each once. */
export const headsIn = (gitDirectory: string, most: number): string[] =>
  [...new Set((movesIn(gitDirectory) ?? []).reverse().map(({ to }) => to))].slice(0, most)

function movesIn(gitDirectory: string): HeadMove[] | undefined {
  const text = guardedText(join(gitDirectory, 'logs', 'HEAD'), MOST_LOG_BYTES)
  return text?.split('\n').flatMap((line) => {
    const [, to = '', seconds = '', what = ''] = /^[0-9a-f]+ ([0-9a-f]+) .*> (\d+) [+-]\d+\t(.*)$/.exec(line) ?? []
    return to === '' ? [] : [{ to, what, atMs: Number(seconds) * 1_000 }]
  })
}
