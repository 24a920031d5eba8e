import type { SessionHistory } from '../../home/index.js'
import { unreachable } from '../../model/index.js'
import type { Output } from '../screen/output.js'

/** Says where what was shown came from, when it was not the log. */
export function noteMissingLog({ told_from }: Pick<SessionHistory, 'told_from'>, out: Pick<Output, 'note'>): void {
  switch (told_from) {
    case 'log':
      return
    case 'archive':
      out.note('Log deleted by its tool; shown from the archive.')
      return
    case 'counts':
      out.note('The log of this session is gone: these are the counts of when it was read.')
      return
    default:
      unreachable(told_from)
  }
}
