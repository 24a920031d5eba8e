import type { ProcessPlace } from '../disk/index.js'
import {
  type AgentId,
  type AgentStatus,
  type Evidence,
  type Instant,
  isSessionId,
  type SessionId,
  SkeinError,
  STATUSES,
} from '../model/index.js'
import type { PaneId, TmuxSocket } from '../terminal/index.js'
import type { AskedPermission } from '../tools/index.js'

/** How an agent is started, kept so that it comes back with the same rights and settings or not at all. */
export interface Recipe {
  tool: string
  cwd: string
  model?: string
  args?: string[]
  mcp?: string[]
  dangerous?: boolean
  /** The unit of work it is on. */
  work?: string
  /** Names of the variables the user gave with --env. Their values are in `agents/<id>.env` (0600), never in the journal. */
  env_names?: string[]
}

/** The process an agent runs in now. */
export interface LiveRun {
  /** Chosen per start: messages of an older run are told apart by it. */
  id: string
  /** By its absolute path, so that no variable of the user's decides where it is looked for. Earlier versions wrote a name. */
  socket: TmuxSocket
  /** The tmux server, as a process. Earlier versions did not write it, nor `place`. */
  server?: { pid: number; process_start?: number }
  /** Where the pids of this run have a meaning: only there can be seen that it has ended. */
  place?: ProcessPlace
  tmux_session: string
  pane: PaneId
  pid: number
  /** The kernel's start time of that pid: only this very process is ever signalled. */
  process_start?: number
  started_at: Instant
  port: number
  /** Whether it began a conversation or was to go on with one. */
  how: 'new' | 'resume' | 'fork'
  /** The program itself, where it is not the first process of the pane: learned from its first message. */
  program_pid?: number
  /** It is over; nobody looks for it any more. */
  ended_at?: Instant
}

/** Which conversation an agent is in, and how that is known. */
export interface Binding {
  session: SessionId
  since: Instant
  /** `chosen` before the start, confirmed or changed by what the program told. */
  how: 'chosen' | 'startup' | 'resume' | 'clear' | 'compact' | 'fork' | 'captured'
  is_confirmed: boolean
  log?: string
}

/** A run that is about to begin: written before the pane is made, so that a pane whose maker was killed is known again. */
export type Launching = Pick<LiveRun, 'id' | 'socket' | 'place' | 'tmux_session' | 'started_at' | 'port' | 'how'>

/** Everything about running an agent that must outlive our processes, tmux and the machine: one file per agent, `agents/<id>.json`. */
export interface AgentRun {
  v: 1
  agent: AgentId
  recipe: Recipe
  binding?: Binding
  /** How it was run with other tools, and the conversations it has there: they are taken up when it runs them again. */
  other_tools?: Readonly<Record<string, { recipe: Recipe; binding?: Binding }>>
  launching?: Launching
  run?: LiveRun
  status: AgentStatus
  /** What the agent's program and outside programs told last, oldest first: it is told once, so it has to be kept. */
  told?: Evidence[]
  /** The last reading of the screen, for what must be seen twice. */
  sample?: Evidence
  /** What the program asked and was not answered yet, as far as it tells. */
  requests?: AskedPermission[]
  /** Shells and sub-agents that go on after the turn. */
  background?: { count: number; at: Instant }
  /** When the program last said that it was given a prompt: the receipt for what was sent. */
  prompted_at?: Instant
  /** Conversations that were claimed for this run and refused, so that each is told once. */
  refused?: SessionId[]
  /** Since when it last was at work. */
  busy_at?: Instant
  /** When a reply was last finished. It waits for its user until it is acknowledged. */
  finished_at?: Instant
  /** A finished reply was seen by its user up to this moment. */
  acked_at?: Instant
  snoozed_at?: Instant
  snoozed_until?: Instant
  archived_at?: Instant
}

/** The run that goes on now. */
export const liveRun = (run: AgentRun | undefined): LiveRun | undefined =>
  run?.run && run.run.ended_at === undefined ? run.run : undefined

/**
 * Undefined when the text is no such file. What decides over a start is checked by hand (this is read for every agent on
 * every list); the rest is ours and was written whole.
 */
export function readAgentRun(text: string, where: string): AgentRun | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!isObject(value)) return undefined
  if (typeof value.v === 'number' && value.v > 1) {
    const next = 'Update Skein (npm install -g skein), then try again; the file was not touched'
    throw new SkeinError('newer-format', `${where} was written by a newer Skein`, next)
  }
  const { v, agent, recipe, binding, run, status } = value
  const isWhole =
    v === 1 &&
    typeof agent === 'string' &&
    isObject(recipe) &&
    hasTexts(recipe, 'tool', 'cwd') &&
    isObject(status) &&
    hasTexts(status, 'status', 'since', 'source') &&
    STATUSES.some((known) => known === status.status) &&
    (binding === undefined || (isObject(binding) && isSessionId(binding.session))) &&
    (run === undefined || isLiveRun(run))
  return isWhole ? (value as unknown as AgentRun) : undefined
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const hasTexts = (value: Record<string, unknown>, ...names: string[]): boolean =>
  names.every((name) => typeof value[name] === 'string')

function isLiveRun(value: unknown): boolean {
  if (!isObject(value) || !hasTexts(value, 'id', 'tmux_session', 'pane', 'started_at')) return false
  const { socket, pid, server, place } = value
  const isSocket = isObject(socket) && (typeof socket.name === 'string' || typeof socket.path === 'string')
  const isServer = server === undefined || (isObject(server) && isPid(server.pid))
  const isPlace = place === undefined || (isObject(place) && typeof place.host === 'string')
  return isSocket && isPid(pid) && isServer && isPlace
}

const isPid = (value: unknown): boolean => typeof value === 'number' && Number.isSafeInteger(value) && value > 1
