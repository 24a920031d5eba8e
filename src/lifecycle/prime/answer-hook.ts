import type { InputLimits } from '../../disk/index.js'
import type { Home } from '../../home/index.js'
import type { Context } from '../../model/index.js'
import { AgentRuns } from '../agent-runs.js'
import { type HookMessage, readHookMessage, sessionOfEnvironment } from './hook-message.js'
import { type HookRun, readHookRun } from './hook-run.js'
import { prime } from './prime.js'
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
  /** The home at this place; where it says nothing, the user's own. */
  open(place: HookPlace): Promise<Home>
}

/** A hook's message is some hundred bytes, and at once there. A prompt or the input of a tool may be in it. */
const INPUT: InputLimits = { mostBytes: 1024 * 1024, waitMs: 500 }
/** How long a hook waits for another process that changes the agent, such as the one that is starting it. */
const WAIT_MS = 1_500
/** After this long a hook gives up, and its agent goes on without an answer. */
export const HOOK_LIMIT_MS = 4_000

/** What the hook prints: empty where there is nothing to say. Throws whatever goes wrong: the caller prints nothing then. */
export async function answerHook(question: HookQuestion, world: HookWorld): Promise<string> {
  const message = readHookMessage((await world.input(INPUT)) ?? '')
  const run = question.run === undefined ? undefined : readHookRun(question.run)
  if (question.run !== undefined && !run) return ''
  if (question.event !== 'SessionStart') return ''
  const context = await contextFor(question, run, message, world)
  return question.isText ? context : hookOutput(question.event, context)
}

async function contextFor(
  { pid, tool }: HookQuestion,
  run: HookRun | undefined,
  message: HookMessage,
  { context, env, cwd, open }: HookWorld,
): Promise<string> {
  const home = await open(run ? { root: run.root, configFile: run.config_file, profile: run.profile } : {})
  const primed = await prime(
    { home, context, runs: new AgentRuns(home, context) },
    {
      agent: run?.agent ?? (env.SKEIN_AGENT || undefined),
      session: message.session ?? sessionOfEnvironment(env),
      source: message.source,
      cwd: message.cwd ?? cwd,
      pid,
      tool: run?.tool ?? tool,
      isHook: true,
      isReported: run !== undefined,
      isDry: false,
      waitMs: WAIT_MS,
    },
  )
  return primeText(primed, { mostChars: HOOK_CHARS })
}

/** Claude Code, Codex and Gemini CLI read the same. */
const hookOutput = (event: string, context: string): string =>
  JSON.stringify({ hookSpecificOutput: { hookEventName: event, additionalContext: context } })
