import { mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** The programs that Skein runs and looks for by name. */
const AGENTS = new Set(['claude', 'codex', 'gemini', 'opencode', 'pi', 'qwen', 'openclaw'])

/**
 * A PATH that finds all that this one finds, but no agent that its user has installed: tests must neither start one nor
 * depend on there being none. A directory that has one is replaced by links to all else that is in it.
 */
export function agentFreePath(path, scratch) {
  return path
    .split(delimiter)
    .map((directory, at) => {
      const names = namesIn(directory)
      if (!names.some((name) => AGENTS.has(name))) return directory
      const links = join(scratch, 'path', String(at))
      mkdirSync(links, { recursive: true })
      for (const name of names) if (!AGENTS.has(name)) symlinkSync(join(directory, name), join(links, name))
      return links
    })
    .join(delimiter)
}

function namesIn(directory) {
  try {
    return readdirSync(directory)
  } catch {
    return [] // a PATH may name directories that are not there
  }
}
