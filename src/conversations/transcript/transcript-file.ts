import { explainDiskError, readGuarded } from '../../disk/index.js'
import { isTornBeginning, parseTranscript, type Transcript } from './transcript-format.js'

/** A link in the place of a transcript may lead out of the store. A transcript is read whole, and a text is at most this long. */
export const TRANSCRIPT_GUARD = { mostBytes: 500 * 1024 * 1024, noFollow: true }

/** What was said, brought up to date in memory; the file is not touched. Undefined when nothing was. */
export function readTranscript(path: string): Transcript | undefined {
  try {
    const text = readGuarded(path, TRANSCRIPT_GUARD).toString('utf8')
    return isTornBeginning(text) ? undefined : parseTranscript(text, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw explainDiskError(error, path)
  }
}
