import type { InputLimits } from '../../disk/index.js'
import type { Home } from '../../home/index.js'
import { type Context, type SessionId, SkeinError } from '../../model/index.js'
import { AgentRuns } from '../agent-runs.js'
import { readHookMessage, sessionOfEnvironment } from './hook-message.js'
import { readHookRun } from './hook-run.js'
import { type Prime, prime } from './prime.js'
import { HOOK_CHARS, primeText } from './prime-text.js'

/** A hook asks. */
export interface HookQuestion {
  readonly event: string
  /** The file of the run (`HookRun`), for agents that Skein started. */
  readonly run?: string
  /** The program that the hook is of. */
  readonly pid?: number
  readonly tool?: string
  /** Print the answer itself and not JSON, for plugins. */
  readonly isText: boolean
}

/** Where the home is that a question is about. */
export interface HookPlace {
  readonly root?: string
  readonly configFile?: string
  readonly profile?: string
}

/** What a hook's answer needs of the process that gives it. */
export interface HookWorld {
  readonly context: Context
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  input(limits: InputLimits): Promise<string | undefined>
  /** Runs Skein outside of the agent's process tree. Absent where that cannot be. */
  detach?(args: readonly string[], options: { input: string; log: string }): Promise<void> | void
  /** Waits to be ended together with the program, for as long as a hook may take. Absent where nobody waits for the answer. */
  untilEnded?(): Promise<void>
  /** The home at this place; where it says nothing, the user's own. */
  open(place: HookPlace): Promise<Home>
}

/** A hook's message is some hundred bytes, and at once there. A prompt or the input of a tool may be in it. */
export const HOOK_INPUT: InputLimits = { mostBytes: 1024 * 1024, waitMs: 500 }
/** For commands that are typed as well as run by hooks, where nothing tells which it is. */
export const MAYBE_HOOK_INPUT: InputLimits = { ...HOOK_INPUT, waitMs: 200, isOwnOnly: true }
/** The start of a session, and what each program calls the compaction of its context. */
const ANSWERED = new Set(['SessionStart', 'PreCompact', 'PreCompress'])
/** How long a hook waits for another process that changes the agent, such as the one that is starting it. */
const WAIT_MS = 1_500
/** After this long a hook gives up, and its agent goes on without an answer. */
export const HOOK_LIMIT_MS = 4_000

/** What the hook prints: empty where there is nothing to say. Throws whatever goes wrong: the caller prints nothing then. */
export async function answerHook(question: HookQuestion, world: HookWorld): Promise<string> {
  const { event, run: file, isText } = question
  const { env, context } = world
  const message = await world.input(HOOK_INPUT)
  const run = file === undefined ? undefined : readHookRun(file)
  // The hooks of a run report for it. The user's own, which its program has as well, leave it to them.
  if (run === undefined && (file !== undefined || env.SKEIN_RUN)) return ''
  if (!ANSWERED.has(event)) return ''
  const home = await world.open(run ? { root: run.root, configFile: run.config_file, profile: run.profile } : {})
  if (event !== 'SessionStart') {
    const { beforeCompaction } = await import('../handoff/before-compaction.js')
    const { agent = env.SKEIN_AGENT } = run ?? {}
    const { isByHand = false } = readHookMessage(message ?? '')
    const isEnding = agent ? await beforeCompaction({ home, context }, { agent, isByHand }, world.detach) : false
    if (isEnding) await world.untilEnded?.()
    return ''
  }
  const agent = run ? { agent: run.agent } : {}
  const asked = { ...question, ...(run ? { tool: run.tool } : {}) }
  const shown = { env, cwd: () => world.cwd, message, isHook: true, isDry: false }
  const primed = await primeFrom({ home, context }, shown, agent, asked)
  const text = primeText(primed, { mostChars: HOOK_CHARS })
  return isText ? text : hookOutput(event, text)
}

/** What the process that is primed shows of itself. */
interface Shown {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Where it is; fails in a directory that was removed. */
  readonly cwd: () => string
  /** The message of its hook, where one runs this. */
  readonly message: string | undefined
  readonly isHook: boolean
  readonly isDry: boolean
}

/** Primes whoever runs this: by what was typed, else the message of a hook, else the environment. */
export async function primeFrom(
  { home, context }: { home: Home; context: Context },
  { env, cwd, message: json, isHook, isDry }: Shown,
  typed: { agent?: string; session?: SessionId },
  { run, pid, tool }: Pick<HookQuestion, 'run' | 'pid' | 'tool'> = {},
): Promise<Prime> {
  const message = readHookMessage(json ?? '')
  const agent = typed.agent ?? (env.SKEIN_AGENT || undefined)
  const isOther = typed.agent !== undefined && run === undefined // asked about, not run by: environment and directory are another's
  const place = isOther ? await directoryOf(home, typed.agent ?? '') : undefined
  return prime(
    { home, context, runs: new AgentRuns(home, context) },
    {
      agent,
      session: typed.session ?? message.session ?? (isOther ? undefined : sessionOfEnvironment(env)),
      source: message.source,
      cwd: message.cwd ?? place ?? (await hereOr(home, cwd, agent)),
      pid,
      tool,
      isHook,
      isReported: run !== undefined || Boolean(env.SKEIN_RUN),
      isDry,
      waitMs: WAIT_MS,
    },
  )
}

/** Where this process is; where that was removed, where its agent works, if the agent is known. */
async function hereOr(home: Home, cwd: () => string, agent: string | undefined): Promise<string> {
  try {
    return cwd()
  } catch (error) {
    const directory = agent === undefined ? undefined : await directoryOf(home, agent)
    if (directory === undefined) throw error
    return directory
  }
}

/** Where an agent works; undefined where none has this name, which the prime itself reports. */
async function directoryOf({ roster }: Home, agent: string): Promise<string | undefined> {
  try {
    return (await roster.agent(agent)).project_path
  } catch (error) {
    if (!(error instanceof SkeinError)) throw error
    return undefined
  }
}

/** Claude Code, Codex and Gemini CLI read the same. */
const hookOutput = (event: string, context: string): string =>
  JSON.stringify({ hookSpecificOutput: { hookEventName: event, additionalContext: context } })
