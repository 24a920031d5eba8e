import { basename, join } from 'node:path'
import { filesBelow } from '../log/log-files.js'
import type { Environment } from '../log/log-tool.js'
import { ROLLOUT, sessionInName } from './codex-name.js'

/** Where Codex keeps its things; the first is the one a new process uses. */
export function codexRoots({ home, env, extraRoots }: Environment): string[] {
  return [env.CODEX_HOME || join(home, '.codex'), ...(extraRoots?.codex ?? [])]
}

/** `sessions/YYYY/MM/DD/rollout-….jsonl`, and `archived_sessions/` for those the user put away. */
export const CODEX_FOLDERS = ['sessions', 'archived_sessions']

export function codexLogsUnder(root: string): string[] {
  return CODEX_FOLDERS.flatMap((folder) => filesBelow(join(root, folder), (name) => ROLLOUT.test(name)))
}

export function isCodexLog(place: string): boolean {
  return CODEX_FOLDERS.some((folder) => place.startsWith(`${folder}/`)) && ROLLOUT.test(basename(place))
}

export function codexLogOf(environment: Environment, session: string): string | undefined {
  return codexRoots(environment)
    .flatMap(codexLogsUnder)
    .find((path) => sessionInName(path) === session)
}
