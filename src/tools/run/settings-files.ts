import { join } from 'node:path'
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

/** Whether they exist or not: a file that appears is a change, too. Empty for a tool whose files are not known. */
export function settingsFiles(tool: string, cwd: string, { home, env }: Environment): string[] {
  const files = Object.hasOwn(FILES, tool) ? FILES[tool] : undefined
  if (!files) return []
  const own = (files.variable && env[files.variable]) || join(home, files.own)
  return [...files.names.map((name) => join(own, name)), ...files.here.map((name) => join(cwd, name))]
}
