import { SkeinError } from '../model/index.js'
import type { SnapshotBook } from '../snapshots/index.js'
import { type LineWriter, LineWriters, type WriterSources } from './line-writers.js'

export interface Blame {
  root: string
  path: string
  writers: LineWriter[]
  /** `writer` is a place in `writers`. */
  lines: { number: number; text: string; writer: number }[]
}

interface Sources extends WriterSources {
  snapshots: Pick<SnapshotBook, 'blame' | 'list'>
}

/** Who wrote each line of a file, or one of them, by turns of sessions. */
export async function blame(sources: Sources, file: string, only?: number): Promise<Blame> {
  const found = await sources.snapshots.blame(file)
  const lines = only === undefined ? found.lines : found.lines.filter(({ number }) => number === only)
  if (only !== undefined && lines.length === 0)
    throw new SkeinError('bad-input', `${file} has no line ${only}`, `It has ${found.lines.length} lines`)
  const writers = new LineWriters(sources)
  const blamed: Blame['lines'] = []
  for (const { number, text, origin } of lines) blamed.push({ number, text, writer: await writers.placeOf(origin) })
  return { root: found.root, path: found.path, writers: writers.list, lines: blamed }
}
