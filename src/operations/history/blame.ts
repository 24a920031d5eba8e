import { statOf } from '../../disk/index.js'
import type { Blame } from '../../home/index.js'
import { optional, required } from '../field.js'
import { count, path } from '../kind.js'
import { operation } from '../operation.js'
import { usageError } from '../usage-error.js'

export const blame = operation({
  name: 'blame',
  does: 'reads',
  where: 'either',
  summary: 'Show which turn of which agent wrote each line of a file',
  description:
    'Follows the file through the snapshots of all turns, other worktrees and renames, and on into the commits of the repository. It makes no difference whether an agent’s lines were committed, squashed or rebased since.',
  input: {
    file: required(path('file'), 'The file, or <file>:<line>'),
    line: optional(count, 'Only this line'),
  },
  result: 'blame',
  async run({ file, line }, { home }): Promise<Blame> {
    const meant = fileAndLine(file)
    if (line !== undefined && meant.line !== undefined)
      throw usageError('The line is given twice', 'Write <file>:<line>, or --line')
    return (await home()).history.blame(meant.file, line ?? meant.line)
  },
})

/** A file that exists is meant as it is written, also when its name ends like a line. */
function fileAndLine(given: string): { file: string; line?: number } {
  const [, file, line] = /^([\s\S]+):(\d{1,9})$/.exec(given) ?? []
  return file === undefined || statOf(given) ? { file: given } : { file, line: Number(line) }
}
