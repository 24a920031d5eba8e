import { join } from 'node:path'
import { nearest, SkeinError } from '../../model/index.js'
import { type JsonObject, objectAt } from '../json-value.js'
import { smallJson } from '../log/log-files.js'
import type { Environment } from '../log/log-tool.js'
import { claudeRoots } from './claude-roots.js'

/**
 * The servers of these names as the user, the project or this directory has defined them, in the form of `--mcp-config`.
 * Definitions may hold secrets: they go into a file of the run, never onto a command line.
 */
export function mcpConfig(names: readonly string[], cwd: string, environment: Environment): object {
  const known = { ...definedByUser(cwd, environment), ...objectAt(smallJson(join(cwd, '.mcp.json')), 'mcpServers') }
  const missing = names.find((name) => known[name] === undefined)
  if (missing !== undefined) {
    const meant = nearest(missing, Object.keys(known))
    const all = Object.keys(known).join(', ') || 'none'
    throw new SkeinError(
      'bad-input',
      `Claude Code has no MCP server called ${JSON.stringify(missing.slice(0, 60))} for ${cwd}`,
      `${meant ? `Did you mean ${meant}? ` : ''}Known here: ${all}; add one with: claude mcp add`,
    )
  }
  return { mcpServers: Object.fromEntries(names.map((name) => [name, known[name]])) }
}

/** `.claude.json` is in the home directory, or in the configuration directory when that was moved. */
function definedByUser(cwd: string, environment: Environment): JsonObject {
  const directory = environment.env.CLAUDE_CONFIG_DIR ? (claudeRoots(environment)[0] ?? '') : environment.home
  const settings = smallJson(join(directory, '.claude.json'))
  return {
    ...objectAt(settings, 'mcpServers'),
    ...objectAt(objectAt(objectAt(settings, 'projects'), cwd), 'mcpServers'),
  }
}
