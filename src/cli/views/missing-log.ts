import type { SessionHistory } from '../../home/index.js'
import { unreachable } from '../../model/index.js'
import type { Output } from '../screen/output.js'

interface Source extends Pick<SessionHistory, 'told_from'> {
  session: { id: string; source?: string }
  turns: readonly unknown[]
  older_versions?: number
}

/** Says where what was shown came from, when it was not the log. */
export function noteMissingLog(source: Source, out: Pick<Output, 'note'>): void {
  const { told_from, turns, older_versions = 0, session } = source
  if (older_versions > 0)
    out.note(
      `Its log was rewritten; an older version has more: skein archive restore ${session.id} --version ${older_versions}`,
    )
  switch (told_from) {
    case 'log':
      return
    case 'journal':
      out.note('Its program writes no log: these are the turns that Skein saw, without replies.')
      return
    case 'archive':
      out.note('Log deleted or cut by its tool; shown from the archive.')
      return
    case 'counts':
      if (turns.length === 0 && session.source === 'run') {
        out.note('No turns. Its program writes no log: turns are what Skein sees of it.')
        return
      }
      out.note(
        turns.length > 0
          ? 'The log of this session is gone. These are the counts from when it was read.'
          : 'No log of this session has been read. Read new logs with: skein ingest',
      )
      return
    default:
      unreachable(told_from)
  }
}
