import type { IngestReport } from '../../home/index.js'
import type { Output } from '../screen/output.js'
import { plural } from '../screen/plural.js'
import { safe } from '../screen/safe-text.js'

/** A disk that is gone makes all of its logs unreadable: a few tell the story. */
const NAMED = 5

/** Names the logs that could not be read: what is in them is in no total. */
export function noteUnreadable({ unreadable }: Pick<IngestReport, 'unreadable'>, out: Pick<Output, 'note'>): void {
  for (const { path, reason } of unreadable.slice(0, NAMED)) out.note(safe`Could not read ${path} (${reason})`)
  if (unreadable.length > NAMED) out.note(`Nor ${plural(unreadable.length - NAMED, 'other log')}`)
}
