import { TOOL_KINDS } from '../../privacy/index.js'

const COMMANDS = new Set(TOOL_KINDS.find(({ what }) => what === 'run a command')?.names)

export const runsCommands = (tool: string): boolean => COMMANDS.has(tool)

/** `[main 4f2a91c] Subject`, as git prints it when it has made a commit; no log or status is printed so. */
const MADE = /^\[(?:detached HEAD|[^\s\]]+)(?: \(root-commit\))? ([0-9a-f]{7,64})\] ./
const COUNTED = /^ \d+ files? changed/
/** Between the two, git may name the author and the date. */
const MOST_BETWEEN = 3

/** The beginnings of the ids of the commits that a command made, by what git printed. */
export function printedCommits(result: string): string[] {
  if (!result.includes('changed')) return []
  const lines = result.split('\n')
  return lines.flatMap((line, at) => {
    const [, commit] = MADE.exec(line) ?? []
    const isMade = lines.slice(at + 1, at + 2 + MOST_BETWEEN).some((next) => COUNTED.test(next))
    return commit !== undefined && isMade ? [commit] : []
  })
}
