import { readJson, SkeinError, shapes } from '../model/index.js'

/** What an index says beyond the tree that can be written from it. Paths are latin1. */
export interface IndexDetails {
  /** Unresolved entries: mode, object, stage, path. */
  stages: { mode: string; oid: string; stage: number; path: string }[]
  skipped: string[]
  assumed: string[]
  intents: string[]
  /** `info/sparse-checkout`, when entries are left out of the worktree. */
  sparse?: string
  /** Files of the git directory that belong to an unfinished merge, cherry-pick or revert. */
  pending: Record<string, string>
}

/** The only files of a git directory that a snapshot has. */
export const PENDING = ['MERGE_HEAD', 'MERGE_MSG', 'MERGE_MODE', 'CHERRY_PICK_HEAD', 'REVERT_HEAD'] as const

const { isObject, listOf, misfit, path, shape, shaped, text } = shapes

const oid: shapes.Check = (value) => typeof value === 'string' && /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(value)
const mode: shapes.Check = (value) => typeof value === 'string' && /^(?:100644|100755|120000|160000)$/.test(value)
const stage: shapes.Check = (value) => value === 1 || value === 2 || value === 3
const pending: shapes.Check = (value) =>
  isObject(value) &&
  Object.entries(value).every(([name, content]) => PENDING.some((one) => one === name) && typeof content === 'string')

const DETAILS = shape({
  'stages?': listOf(shaped(shape({ mode, oid, stage, path }))),
  'skipped?': listOf(path),
  'assumed?': listOf(path),
  'intents?': listOf(path),
  'sparse?': text,
  'pending?': pending,
})

/**
 * Parses the details of a snapshot. They may have come with a pack from anywhere, and a restore gives them to git and writes files by
 * them: whatever a capture does not write is refused.
 */
export function indexDetails(json: string): IndexDetails {
  const value = readJson(json)
  if (!isObject(value) || misfit(value, DETAILS) !== undefined)
    throw new SkeinError(
      'snapshot-refused',
      'The snapshot has details of an index that Skein does not write',
      'Remove the session that it belongs to; if it came in a pack, do not trust that pack',
    )
  return { stages: [], skipped: [], assumed: [], intents: [], pending: {}, ...value } as IndexDetails
}
