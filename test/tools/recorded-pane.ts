import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Screen } from '../../src/tools/run/tool-runner.js'
import { recordedScreen } from '../../src/tools/screen/recorded-screen.js'

const FIXTURES = fileURLToPath(new URL('../fixtures', import.meta.url))

/** The recorded screens of a tool. */
export function recordedPanes(tool: string): { name: string; screen: Screen }[] {
  const directory = join(FIXTURES, tool, 'panes')
  return readdirSync(directory)
    .filter((name) => name.endsWith('.txt'))
    .sort()
    .map((name) => ({
      name: name.replace(/\.txt$/, ''),
      screen: recordedScreen(readFileSync(join(directory, name), 'utf8')),
    }))
}

export const fixture = (...path: string[]): string => readFileSync(join(FIXTURES, ...path), 'utf8')
