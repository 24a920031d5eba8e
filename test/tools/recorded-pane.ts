import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Screen } from '../../src/tools/runner.js'

const FIXTURES = fileURLToPath(new URL('../fixtures', import.meta.url))

/** The recorded screens of a tool. A last line `--- title=[…] …` was added by the recording. */
export function recordedPanes(tool: string): { name: string; screen: Screen }[] {
  const directory = join(FIXTURES, tool, 'panes')
  return readdirSync(directory)
    .filter((name) => name.endsWith('.txt'))
    .sort()
    .map((name) => ({
      name: name.replace(/\.txt$/, ''),
      screen: screenOf(readFileSync(join(directory, name), 'utf8')),
    }))
}

export function screenOf(text: string, width = 120): Screen {
  const lines = text.replace(/\n$/, '').split('\n')
  const note = /^--- title=\[(.*)\] cmd=/.exec(lines.at(-1) ?? '')
  return { lines: note ? lines.slice(0, -1) : lines, title: note?.[1] ?? '', width }
}

export const fixture = (...path: string[]): string => readFileSync(join(FIXTURES, ...path), 'utf8')
