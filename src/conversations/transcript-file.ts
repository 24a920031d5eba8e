import { closeSync, constants, openSync, readFileSync } from 'node:fs'
import { explainDiskError } from '../disk/index.js'
import { isTornBeginning, parseTranscript, type Transcript } from './transcript-format.js'

/** What was said, brought up to date in memory; the file is not touched. Undefined when nothing was. */
export function readTranscript(path: string): Transcript | undefined {
  try {
    const text = readWithoutLinks(path)
    return isTornBeginning(text) ? undefined : parseTranscript(text, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw explainDiskError(error, path)
  }
}

/** A link in its place may lead out of the store. */
function readWithoutLinks(path: string): string {
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    return readFileSync(file, 'utf8')
  } finally {
    closeSync(file)
  }
}
