import { readGiven } from '../../../disk/index.js'
import { SkeinError } from '../../../model/index.js'
import { optional, path, toolTest } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { readingCard } from '../../views/program-view.js'

export const test = operationCommand(toolTest, {
  name: 'tool test',
  description: `Reads standard input if no file is given. ${toolTest.description} Record a screen with: tmux capture-pane -p -t <pane> > pane.txt`,
  examples: [
    ['skein tool test claude --pane pane.txt', 'Which rule matches, and what can be answered'],
    ['skein tool test claude --pane pane.txt --json', 'For a program'],
  ],
  args: ['tool'],
  fields: { screen: undefined },
  own: { pane: optional(path('file'), 'The recorded screen', { fallback: 'standard input' }) },
  prepare: ({ tool, pane }, { stdin }) => ({ tool, screen: pane === undefined ? stdin() : recording(pane) }),
  fails: ({ rule }) => rule === undefined,
  view: readingCard,
})

const MOST_BYTES = 16 * 1024 * 1024

function recording(file: string): string {
  try {
    return readGiven(file, MOST_BYTES).toString('utf8')
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error'
    throw new SkeinError('bad-input', `${file} cannot be read: ${code}`, 'Name the file of a recorded screen', {
      cause: error,
    })
  }
}
