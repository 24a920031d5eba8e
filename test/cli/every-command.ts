import type { Command } from '../../src/cli/command.js'
import { COMMANDS, type CommandTable, isNoun } from '../../src/cli/command-table.js'

export interface LoadedCommand {
  /** As the table names it. */
  name: string
  /** As the table tells it. */
  summary: string
  command: Command
}

/** All commands of the table, loaded. */
export async function everyCommand(
  table: CommandTable = COMMANDS,
  before: readonly string[] = [],
): Promise<LoadedCommand[]> {
  const found: LoadedCommand[] = []
  for (const [word, entry] of Object.entries(table.entries)) {
    const words = [...before, word]
    if (isNoun(entry)) {
      const { otherwise } = entry
      if (otherwise) found.push({ name: words.join(' '), summary: otherwise.summary, command: await otherwise.load() })
      found.push(...(await everyCommand(entry, words)))
    } else found.push({ name: words.join(' '), summary: entry.summary, command: await entry.load() })
  }
  return found
}

/** Splits an example line as a shell would; examples use no more than plain quotes. */
export function wordsOf(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
    ([, single, double, bare]) => single ?? double ?? bare ?? '',
  )
}
