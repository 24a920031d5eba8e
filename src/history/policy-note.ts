import { statSync } from 'node:fs'
import { refuseDead } from '../disk/index.js'
import type { TextStore } from '../ingest/index.js'

/** Kept beside the text, so that a search can say so without reading any policy. */
interface PolicyNote {
  outdated: number
  /** Every policy file that counted, and the user's own, with what identifies its content. */
  files: Record<string, string>
}

const NOTE = 'policies'

export function notePolicies(
  text: TextStore,
  { outdated, files }: { outdated: number; files: ReadonlySet<string> },
  userFile: string,
): void {
  const stamps = [...files, userFile].map((path) => [path, stampOf(path)])
  const note: PolicyNote = { outdated, files: Object.fromEntries(stamps) }
  const said = JSON.stringify(note)
  if (text.fact(NOTE) !== said) text.setFact(NOTE, said)
}

/** Whether some of the text may have been filtered under another policy. A few questions to the file system. */
export function mayBeOutdated(text: TextStore): boolean {
  const said = text.fact(NOTE)
  if (said === undefined) return false
  const { outdated, files } = JSON.parse(said) as PolicyNote
  return outdated > 0 || Object.entries(files).some(([path, stamp]) => stampOf(path) !== stamp)
}

function stampOf(path: string): string {
  try {
    refuseDead(path)
    const stat = statSync(path, { bigint: true, throwIfNoEntry: false })
    return stat ? `${stat.ino}:${stat.size}:${stat.mtimeNs}` : 'none'
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code) // a directory above it became a file, or one that we may not enter
  }
}
