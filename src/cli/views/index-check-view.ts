import type { IndexCheck } from '../../home/index.js'
import type { Output } from '../screen/output.js'
import { plural } from '../screen/plural.js'
import { safeText } from '../screen/safe-text.js'

/** Whether the index is correct, and which files could not be read. */
export function showIndexCheck(checked: IndexCheck, out: Output): void {
  const unreadable = `${plural(checked.unreadable_lines, 'journal line')} cannot be read`
  const newer = `${plural(checked.newer_files.length, 'file')} of a newer Skein, unchanged and not read (update Skein):`
  const counts = `${plural(checked.events, 'event')}, ${plural(checked.sessions, 'session')}, ${plural(checked.agents, 'agent')}`
  out.text(
    [
      checked.ok ? `The index is correct: ${counts}` : 'The index differs from the journal:',
      ...checked.problems.map((problem) => `  ${safeText(problem)}`),
      ...(checked.unreadable_lines > 0 ? [unreadable] : []),
      ...(checked.newer_files.length > 0 ? [newer, ...checked.newer_files.map((path) => `  ${safeText(path)}`)] : []),
    ].join('\n'),
  )
  if (!checked.ok) out.note('Repair it: skein index rebuild')
}
