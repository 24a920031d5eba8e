import { basename } from 'node:path'
import { SkeinError } from '../../model/index.js'
import { splitWords } from '../custom/split-words.js'

/** The words of a command that a user typed for an agent. No shell reads it: nothing is expanded, piped or redirected. */
export function commandWords(line: string): [string, ...string[]] {
  const words = splitWords(line)
  if (!words) throw bad(line, 'has an open quote', 'Close the quote')
  const [program, ...rest] = words
  if (program === undefined || program === '') throw bad(line, 'names no program', 'Name one, like "claude --verbose"')
  if (words.some((word) => word.includes('\0'))) throw bad(line, 'has a zero byte in it', 'Leave it out')
  return [program, ...rest]
}

const bad = (line: string, what: string, next: string): SkeinError =>
  new SkeinError('bad-input', `The command ${JSON.stringify(line.slice(0, 80))} ${what}`, next)

interface Wrapper {
  /** Words of its own before the program, beside options. */
  readonly words?: number
  /** Options that take the next word. */
  readonly withValue?: readonly string[]
}

/** Programs that run the program named behind them. */
const WRAPPERS: ReadonlyMap<string, Wrapper> = new Map([
  ['env', { withValue: ['-u', '--unset', '-C', '--chdir'] }],
  ['nice', { withValue: ['-n', '--adjustment'] }],
  ['ionice', { withValue: ['-c', '-n'] }],
  ['nohup', {}],
  ['setsid', {}],
  ['time', { withValue: ['-f', '-o'] }],
  ['timeout', { words: 1, withValue: ['-k', '-s'] }],
  ['stdbuf', { withValue: ['-i', '-o', '-e'] }],
  ['npx', { withValue: ['-p', '--package'] }],
  ['npm exec', {}],
  ['pnpx', {}],
  ['pnpm dlx', {}],
  ['pnpm exec', {}],
  ['yarn dlx', {}],
  ['bunx', {}],
  ['bun', {}],
  ['node', { withValue: ['-r', '--require', '--import'] }],
  ['mise exec', {}],
  ['direnv exec', { words: 1 }],
])

/** Packages under which the programs are published, where their names differ. */
const PACKAGES: ReadonlyMap<string, string> = new Map([
  ['@anthropic-ai/claude-code', 'claude'],
  ['@openai/codex', 'codex'],
  ['@google/gemini-cli', 'gemini'],
  ['opencode-ai', 'opencode'],
  ['@mariozechner/pi-coding-agent', 'pi'],
])

/** The tool that a command runs, by the name of its program, wrapped or not; undefined when it is none of these. */
export function toolOfCommand(words: readonly string[], tools: readonly string[]): string | undefined {
  const program = programOf(words)
  if (program === undefined) return undefined
  const unversioned = program.replace(/(?<=.)@[^/@]*$/, '')
  const name = basename(unversioned).replace(/\.(?:exe|cmd|[cm]?js)$/, '')
  const tool = PACKAGES.get(unversioned) ?? name
  return tools.includes(tool) ? tool : undefined
}

/** The word that names the program itself, behind what only wraps it. */
function programOf(words: readonly string[]): string | undefined {
  let rest = [...words]
  for (;;) {
    const [first = '', second = ''] = rest
    const pair = `${basename(first)} ${second}`
    const byPair = WRAPPERS.get(pair)
    const wrapper = byPair ?? WRAPPERS.get(basename(first))
    if (!wrapper) return rest[0]
    rest = rest.slice(byPair ? 2 : 1)
    while (rest[0] !== undefined && /^-|^[A-Za-z_]\w*=/.test(rest[0])) {
      const takesValue = wrapper.withValue?.includes(rest[0]) === true
      const isEnd = rest[0] === '--'
      rest = rest.slice(takesValue ? 2 : 1)
      if (isEnd) break
    }
    rest = rest.slice(wrapper.words ?? 0)
    if (rest.length === 0) return undefined
  }
}
