import { resolve } from 'node:path'
import { readGiven } from '../../../disk/index.js'
import { SkeinError } from '../../../model/index.js'
import { optional, required, text } from '../../../operations/index.js'
import { recordedScreen } from '../../../tools/index.js'
import { command } from '../../command.js'
import { readingCard, readingDocument } from '../../views/program-view.js'

export const test = command({
  name: 'tool test',
  summary: 'Show how a recorded screen is read',
  description:
    'Reads standard input if no file is given. Fails if no rule matches the screen. Record a screen with: tmux capture-pane -p -t <pane> > pane.txt',
  examples: [
    ['skein tool test claude --pane pane.txt', 'Which rule matches, and what can be answered'],
    ['skein tool test claude --pane pane.txt --json', 'For a program'],
  ],
  args: { tool: required(text('tool'), 'Its name') },
  options: { pane: optional(text('file'), 'The recorded screen', { fallback: 'standard input' }) },
  async run({ tool, pane }, { out, home, stdin, cwd }) {
    const { programs } = await home()
    const runners = await programs.runners()
    const reading = runners
      .named(tool)
      .readScreen(recordedScreen(pane === undefined ? stdin() : recording(resolve(cwd, pane))))
    const rules = runners.rulesOf(tool)
    out.result(readingDocument(tool, reading, rules), (screen) => readingCard(tool, reading, rules, screen))
    if (!reading.rule) out.fails()
  },
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
