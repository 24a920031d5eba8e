import { join } from 'node:path'
import { entriesIn, guardedText, lifeOf, startTimeOf, statOf } from '../../disk/index.js'
import { type Evidence, instantOf, isSessionId, type SessionId, type Wait } from '../../model/index.js'
import { isObject, type JsonObject, numberAt, textAt } from '../json-value.js'
import type { Environment } from '../log/log-tool.js'
import type { Registry, RegistryEntry } from '../run/tool-runner.js'
import { claudeRoots } from './claude-roots.js'

/**
 * `sessions/<pid>.json`, which Claude Code 2.1.x keeps while it runs and removes when it ends in good order. After a kill -9 it
 * stays as it was: pid and start time must be those of a living process before it is believed. Only `<pid>.json` is to be read:
 * beside it lies a key of the program.
 */
export const claudeRegistry: Registry = {
  directory: (environment) => join(claudeRoots(environment)[0] ?? '', 'sessions'),
  read,
}

/**
 * Undefined for what is not a program at a terminal. A `claude -p` that the agent runs is in the same directory and calls itself
 * interactive in the agent's own pane; only its entry point tells it apart.
 */
function read(text: string): RegistryEntry | undefined {
  let entry: unknown
  try {
    entry = JSON.parse(text)
  } catch {
    return undefined // caught while it was being written; its next change is seen
  }
  if (!isObject(entry) || entry.kind !== 'interactive' || entry.entrypoint !== 'cli') return undefined
  const holder = holderIn(entry)
  if (!holder) return undefined
  const cwd = textAt(entry, 'cwd')
  const pane = /%\d+$/.exec(textAt(entry, 'tmux') ?? '')?.[0]
  return {
    ...holder,
    ...(cwd ? { cwd } : {}),
    ...(pane ? { pane } : {}),
    evidence: evidenceOf(entry),
  }
}

function holderIn(entry: JsonObject): Pick<RegistryEntry, 'pid' | 'processStart' | 'session'> | undefined {
  const pid = numberAt(entry, 'pid')
  const session = textAt(entry, 'sessionId')
  if (pid === undefined || !isSessionId(session)) return undefined
  const start = Number(entry.procStart)
  return { pid, ...(Number.isSafeInteger(start) && start > 0 ? { processStart: start } : {}), session }
}

/** An entry is a few hundred bytes, and there is one per process. */
const MOST_BYTES = 256 * 1024
const MOST_ENTRIES = 1_000

/** What is open in a living process, with or without a terminal; undefined for a version that keeps no registry. */
export function openClaudeSessions(environment: Environment): ReadonlySet<SessionId> | undefined {
  const directories = claudeRoots(environment).map((root) => join(root, 'sessions'))
  if (!directories.some((directory) => statOf(directory)?.isDirectory())) return undefined
  const entries = directories.flatMap((directory) =>
    entriesIn(directory)
      .filter((name) => /^\d+\.json$/.test(name))
      .slice(0, MOST_ENTRIES)
      .flatMap((name) => holderAt(join(directory, name)) ?? []),
  )
  return new Set(entries.filter(isAlive).map(({ session }) => session))
}

function holderAt(path: string): ReturnType<typeof holderIn> {
  try {
    const entry: unknown = JSON.parse(guardedText(path, MOST_BYTES) ?? '')
    return isObject(entry) ? holderIn(entry) : undefined
  } catch {
    return undefined // being written, or not an entry
  }
}

const isAlive = ({ pid, processStart }: Pick<RegistryEntry, 'pid' | 'processStart'>): boolean =>
  lifeOf({ pid }) === 'alive' && (processStart === undefined || startTimeOf(pid) === processStart)

function evidenceOf(entry: JsonObject): Evidence {
  const at = instantOf(
    numberAt(entry, 'statusUpdatedAt') ?? numberAt(entry, 'updatedAt') ?? numberAt(entry, 'startedAt') ?? 0,
  )
  const base = { source: 'registry', at, rule: `registry:${textAt(entry, 'status') ?? 'none'}` } as const
  switch (entry.status) {
    case 'busy':
      return { ...base, status: 'running', reason: 'its registry says busy' }
    case 'shell':
      return { ...base, status: 'running', reason: 'a background shell still runs' }
    case 'idle':
      return { ...base, status: 'idle', reason: 'its registry says idle' }
    case 'waiting': {
      const what = textAt(entry, 'waitingFor') ?? 'something'
      return { ...base, status: 'waiting', reason: what, waiting_for: WAITS_FOR[what] ?? 'question' }
    }
    case undefined:
      return { ...base, status: 'starting', reason: 'its registry has no status yet' }
    default:
      return { ...base, status: 'unknown', reason: `its registry says ${JSON.stringify(entry.status)}` }
  }
}

/** A plan is approved in a permission prompt, too: the PermissionRequest hook tells them apart. */
const WAITS_FOR: Readonly<Record<string, Wait>> = {
  'permission prompt': 'permission',
  'sandbox request': 'permission',
}
