import { dirname, join } from 'node:path'
import type { Environment } from '../log/log-tool.js'

/** Instruction and settings files that a program reads in a directory and in its own place, in a fixed order. */
const FILES: Readonly<
  Record<string, { variable?: string; own: string; names: readonly string[]; here: readonly string[] }>
> = {
  claude: {
    variable: 'CLAUDE_CONFIG_DIR',
    own: '.claude',
    names: ['CLAUDE.md', 'settings.json'],
    here: ['CLAUDE.md', 'CLAUDE.local.md', '.claude/settings.json', '.claude/settings.local.json', '.mcp.json'],
  },
  codex: {
    variable: 'CODEX_HOME',
    own: '.codex',
    names: ['AGENTS.md', 'AGENTS.override.md', 'config.toml'],
    here: ['AGENTS.md', 'AGENTS.override.md', '.codex/config.toml'],
  },
  gemini: { own: '.gemini', names: ['GEMINI.md', 'settings.json'], here: ['GEMINI.md', '.gemini/settings.json'] },
  opencode: {
    own: '.config/opencode',
    names: ['AGENTS.md', 'opencode.json', 'opencode.jsonc'],
    here: ['AGENTS.md', 'opencode.json', 'opencode.jsonc'],
  },
  pi: {
    variable: 'PI_CODING_AGENT_DIR',
    own: '.pi/agent',
    names: ['AGENTS.md', 'settings.json'],
    here: ['AGENTS.md', 'CLAUDE.md', '.pi/settings.json'],
  },
}

/** Of a program that Skein does not know: what most of them read. */
const USUAL = ['AGENTS.md']
/** Programs read the files of the directories above, too, as far as the repository goes or further. */
const MOST_ABOVE = 20

/** Whether they exist or not: a file that appears is a change, too. */
export function settingsFiles(tool: string, cwd: string, { home, env }: Environment): string[] {
  const files = Object.hasOwn(FILES, tool) ? FILES[tool] : undefined
  const own = files && ((files.variable && env[files.variable]) || join(home, files.own))
  const above = directoriesFrom(cwd).flatMap((directory) => (files?.here ?? USUAL).map((name) => join(directory, name)))
  return [...new Set([...(own ? files.names.map((name) => join(own, name)) : []), ...above])]
}

function directoriesFrom(cwd: string): string[] {
  const found = [cwd]
  for (let at = dirname(cwd); at !== found.at(-1) && found.length < MOST_ABOVE; at = dirname(at)) found.push(at)
  return found
}
