import { join } from 'node:path'
import { isThere } from '../../disk/index.js'
import { listDirectory } from '../log/log-files.js'
import type { Environment } from '../log/log-tool.js'

/** Where Claude Code keeps its things; the first is the one a new process uses. */
export function claudeRoots({ home, env, extraRoots }: Environment): string[] {
  const configured = env.CLAUDE_CONFIG_DIR?.split(',')
    .map((root) => root.trim())
    .filter((root) => root !== '')
  const usual = [join(home, '.claude'), join(env.XDG_CONFIG_HOME || join(home, '.config'), 'claude')]
  return [...(configured?.length ? configured : usual), ...(extraRoots?.claude ?? [])]
}

/** Whether a conversation was ever written down. The log appears with the first prompt, so an id may be in use without one. */
export function hasClaudeLog(environment: Environment, session: string): boolean {
  return claudeRoots(environment).some((root) =>
    listDirectory(join(root, 'projects')).some((project) => isThere(join(project.path, `${session}.jsonl`))),
  )
}

const LONGEST_PROJECT = 200

/** Its name for the folder of a project's logs: a long path is cut, and told apart by its hash. */
export function claudeProject(cwd: string): string {
  const name = cwd.replace(/[^A-Za-z0-9]/g, '-')
  if (name.length <= LONGEST_PROJECT) return name
  let hash = 0
  for (let at = 0; at < cwd.length; at += 1) hash = (Math.imul(hash, 31) + cwd.charCodeAt(at)) | 0
  return `${name.slice(0, LONGEST_PROJECT)}-${Math.abs(hash).toString(36)}`
}
