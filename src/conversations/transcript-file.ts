import { readFileSync } from 'node:fs'
import { explainDiskError } from '../disk/index.js'
import { parseTranscript, type Transcript } from './transcript-format.js'

/** What was said, brought up to date in memory; the file is not touched. Undefined when there is none. */
export function readTranscript(path: string): Transcript | undefined {
  try {
    return parseTranscript(readFileSync(path, 'utf8'), path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw explainDiskError(error, path)
  }
}
