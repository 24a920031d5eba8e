import { join } from 'node:path'
import { guardedText } from '../../disk/index.js'
import type { Instant, SessionId } from '../../model/index.js'

export interface Seed {
  readonly root: string
  readonly session: SessionId
  readonly cwd: string
  readonly at: Instant
  /** Codex resumes no conversation whose provider is not in its configuration. */
  readonly provider: string
}

/**
 * The beginning of a log, for Codex to resume: the only way to choose a conversation's id. It holds no turn; Codex adds what it
 * needs with the first prompt.
 */
export function seededLog({ root, session, cwd, at, provider }: Seed): { path: string; content: string } {
  const origin = { originator: 'codex-tui', cli_version: '0.0.0', source: 'cli', model_provider: provider }
  const payload = { id: session, session_id: session, timestamp: at, cwd, ...origin }
  const line = JSON.stringify({ timestamp: at, type: 'session_meta', payload })
  return { path: logPath(root, session, at), content: `${line}\n` }
}

/** `sessions/YYYY/MM/DD/rollout-<local time>-<id>.jsonl`, as Codex names its own. */
export function logPath(root: string, session: SessionId, at: Instant): string {
  const time = new Date(at)
  const two = (part: number): string => String(part).padStart(2, '0')
  const [year, month, day] = [String(time.getFullYear()), two(time.getMonth() + 1), two(time.getDate())]
  const clock = [time.getHours(), time.getMinutes(), time.getSeconds()].map(two).join('-')
  return join(root, 'sessions', year, month, day, `rollout-${year}-${month}-${day}T${clock}-${session}.jsonl`)
}

/** Of a settings file of Codex. */
const MOST_BYTES = 4 * 1024 * 1024
const SETTING = /^\s*model_provider\s*=\s*(?:"([^"\\]*)"|'([^']*)')/

/** The model provider that a run will use: by its arguments, else by the top of `config.toml`, else Codex's own. */
export function providerFor(configFile: string, args: readonly string[]): string {
  const isSetting = (word: string, at: number): boolean =>
    /^(-c|--config)$/.test(args[at - 1] ?? '') && /^model_provider\s*=/.test(word)
  const given = args.findLast(isSetting)
  if (given !== undefined) return given.replace(/^model_provider\s*=\s*/, '').replace(/^(["'])(.*)\1$/, '$2')
  const text = guardedText(configFile, MOST_BYTES) ?? ''
  const top = text.split(/^\s*\[/m, 1)[0] ?? ''
  for (const line of top.split('\n')) {
    const [, double, single] = SETTING.exec(line) ?? []
    const found = double ?? single
    if (found) return found
  }
  return 'openai'
}
