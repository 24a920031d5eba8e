import { branchTo, type Transcript, type TranscriptEntry } from './transcript-format.js'

/** What a model that continues a conversation is given. */
export interface TranscriptContext {
  /** What the last compaction on the branch put in the place of everything it left out. */
  summary?: string
  /** The entries that still count, oldest first. Compactions are not among them. */
  entries: TranscriptEntry[]
}

/**
 * The context at a leaf (the last line unless another is given): the summary of the last compaction, the entries it kept,
 * and everything after it. A compaction whose first kept entry is not on the branch kept nothing.
 */
export function contextOf(transcript: Transcript, leaf?: string): TranscriptContext {
  const branch = branchTo(transcript, leaf)
  const at = branch.findLastIndex(isCompaction)
  const compaction = branch[at]
  if (!compaction) return { entries: branch }
  const from = branch.findIndex(({ id }) => id === compaction.firstKeptEntryId)
  const kept = from < 0 ? [] : branch.slice(from, at)
  const entries = [...kept, ...branch.slice(at + 1)].filter((entry) => !isCompaction(entry))
  return { ...(typeof compaction.summary === 'string' ? { summary: compaction.summary } : {}), entries }
}

/** A `reset` of OpenClaw is a compaction without a summary. */
const isCompaction = ({ type }: TranscriptEntry): boolean => type === 'compaction' || type === 'reset'
