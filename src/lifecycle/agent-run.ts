import type { ProcessOwner, ProcessPlace } from '../disk/index.js'
import {
  type AgentId,
  type AgentStatus,
  type Evidence,
  type Instant,
  isAgentId,
  isNewer,
  isSessionId,
  newerFormat,
  readJson,
  type SessionId,
  STATUSES,
  shapes,
  type Trouble,
  type TurnEnd,
} from '../model/index.js'
import type { PaneId, TmuxSocket } from '../terminal/index.js'
import { type HandoffMarker, isHandoffMarker } from './handoff/marker.js'
import { type IdentityLock, isIdentityLock } from './prime/identity-lock.js'
import { isStartRecord, type StartRecord } from './run/start-steps.js'
import { isSlingMarker, type SlingMarker } from './sling/marker.js'
import type { PendingPrompt } from './talk/pending-prompt.js'
import type { PendingRequest } from './talk/pending-request.js'

const { count, flag, isObject, listOf, misfit, path: isPath, shape, shaped, text, texts, time } = shapes

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
  /** The user's account that it runs with (`[accounts.<name>]`). */
  account?: string
  /** Names of the variables the user gave with --env. Their values are in `agents/<id>.env` (0600), never in the journal. */
  env_names?: string[]
}

/** The process an agent runs in now. */
export interface LiveRun {
  /** New for each start: it distinguishes messages of this run from those of an older one. */
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
  /** The agents directory of the home that started it: in a copy of that home the conversation is not the copy's. */
  home?: string
  /** How the previous run ended, if nobody asked for that; prime reports it to the successor. */
  after?: { reason: string; at: Instant }
  /** It has no hooks in this run: what its screen shows is all there is. */
  is_mute?: true
  /** Its end was asked for, by its user or, as `crashed`, by the watchdog: whoever sees it end says so. */
  asked?: AskedEnd
  /** Stopped with all others by `skein down`; `skein up` starts it again. */
  is_down?: true
  /** It was put to sleep; a prompt, an attach or `skein wake` starts it again in its conversation. */
  is_asleep?: true
  /** It is over; nobody looks for it any more. */
  ended_at?: Instant
  /** How it ended. Earlier versions did not write it. */
  end?: RunEnd
}

/** Whoever asked may be killed before it has seen the end, so this has all that is recorded then. */
export interface AskedEnd extends Pick<LiveRun, 'is_down' | 'is_asleep'> {
  how: 'stopped' | 'killed' | 'crashed'
  at: Instant
  reason?: string
  /** The process that asked: see `askedOf`. */
  by?: ProcessOwner
}

/** How a run ended. `exited`: its program left by itself. `lost`: its tmux server or its machine went down. */
export interface RunEnd {
  how: 'stopped' | 'killed' | 'exited' | 'crashed' | 'lost'
  reason: string
  exit_status?: number
  signal?: number
  /** Why, where its last words say that it could not log in or has reached a limit. */
  trouble?: Trouble
}

/** What the watchdog knows about an agent that ended: in its file, so that it survives the daemon. */
export interface Respawn {
  /** The run that ended. */
  run: string
  /** Respawns so far without a calm time in between, on this unit of work. */
  count: number
  work?: string
  /** It ended then, and is started again so long after. */
  at: Instant
  delay_ms?: number
  /** It is left down; `reason` says why, and `next` what to do. */
  parked?: Parked
}

export interface Parked {
  kind: 'loop' | 'held' | 'refused'
  reason: string
  next: string
  /** Until then: its usage limit ends, and it is started again. */
  until?: Instant
}

/** An agent with work on its hook that gives no sign of life. In its file, so that it survives the daemon. */
export interface Silence {
  /** The run and the unit of work that it is about. */
  run: string
  work: string
  /** Its last sign of life before the nudge. */
  since: Instant
  nudged_at: Instant
  /** It is shown as stuck since then. */
  stuck_at?: Instant
}

/** Which conversation an agent is in, and how that is known. */
export interface Binding {
  session: SessionId
  since: Instant
  /** `chosen` before the start, confirmed or changed by what the program told. `made` for a program that has no ids: it names the run. */
  how: 'chosen' | 'made' | 'startup' | 'resume' | 'clear' | 'compact' | 'fork' | 'captured'
  is_confirmed: boolean
  log?: string
}

/** A run that is about to begin: written before the pane is made, so that a pane whose maker was killed is known again. */
export type Launching = Pick<
  LiveRun,
  'id' | 'socket' | 'place' | 'tmux_session' | 'started_at' | 'port' | 'how' | 'home' | 'is_mute'
>

/** Everything about running an agent that must outlive our processes, tmux and the machine: one file per agent, `agents/<id>.json`. */
export interface AgentRun {
  v: 1
  agent: AgentId
  recipe: Recipe
  binding?: Binding
  /** How it was run with other tools, and the conversations it has there: they are taken up when it runs them again. */
  other_tools?: Readonly<Record<string, { recipe: Recipe; binding?: Binding }>>
  launching?: Launching
  /** The steps of its last start. */
  start?: StartRecord
  run?: LiveRun
  /** Of the run that ended last, while nobody else has started the agent. */
  respawn?: Respawn
  status: AgentStatus
  /** The last reports of the agent's program and of outside programs, oldest first. Each is sent once, so it is kept here. */
  told?: Evidence[]
  /** The last reading of the screen, for what must be seen twice. */
  sample?: Evidence
  /** What the program asked and was not answered yet, as far as it tells, oldest first. */
  requests?: PendingRequest[]
  /** The dialog that was last seen on its screen (`dialogPrint`). */
  dialog?: string
  /** Shells and sub-agents that go on after the turn. */
  background?: { count: number; at: Instant }
  /** What its program last reported, whatever that was. */
  heard?: { at: Instant; by: string }
  silence?: Silence
  /** When the program last said that it was given a prompt: the receipt for what was sent. */
  prompted_at?: Instant
  /** When Skein last typed a prompt into a program that reports none. */
  sent_at?: Instant
  /** How many turns of its session have begun, where its program writes no log. */
  turns?: { session: SessionId; count: number }
  /** How it asks before it acts, as it said last. */
  permission_mode?: string
  /** What it is to be given as soon as it listens. */
  pending_prompt?: PendingPrompt
  /** The process that is this agent, as its last prime found it. */
  lock?: IdentityLock
  /** A handoff that is under way, or that its successor has not read yet. */
  handoff?: HandoffMarker
  /** A unit of work that is being given to it. */
  sling?: SlingMarker
  /** When its last handoff ended a session: the next one waits for its cooldown. */
  handed_off_at?: Instant
  /** The program has left its conversation for another, and how. */
  leaving?: { how: 'clear' | 'resume'; at: Instant }
  /** Conversations that were claimed for this run and refused, so that each is told once. */
  refused?: SessionId[]
  /** Since when it last was at work on a turn. */
  busy_at?: Instant
  /** How its last turn ended. A reply or a failure waits for its user until it is acknowledged. */
  turn_end?: TurnEnd
  /** Since when a turn whose end was not told looks ended. */
  quiet_at?: Instant
  /** As earlier versions wrote the end of a turn; see `turnEndOf`. */
  finished_at?: Instant
  /** A reply or a failure was seen by its user up to this moment. */
  acked_at?: Instant
  snoozed_at?: Instant
  snoozed_until?: Instant
  archived_at?: Instant
}

/** The run that goes on now. */
export const liveRun = (run: AgentRun | undefined): LiveRun | undefined =>
  run?.run && run.run.ended_at === undefined ? run.run : undefined

const SOCKET = (value: unknown): boolean =>
  isObject(value) &&
  [value.name, value.path].every((one) => one === undefined || isPath(one)) &&
  (value.name !== undefined || value.path !== undefined)
const isPid = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) > 1 && Number(value) < 2 ** 31
const isPane = (value: unknown): boolean => typeof value === 'string' && /^%\d+$/.test(value)
const isStatus = (value: unknown): boolean => STATUSES.includes(value as AgentStatus['status'])

const PLACE = shaped(shape({ host: text, 'machine?': text, 'boot?': text, 'pid_namespace?': text }))
const SERVER = shaped(shape({ pid: isPid, 'process_start?': count }))
const OWNER = shaped(shape({ pid: isPid, 'starttime?': count, 'place?': text }))
const LAUNCHING = {
  id: text,
  socket: SOCKET,
  'place?': PLACE,
  tmux_session: text,
  started_at: time,
  'port?': count,
  'how?': text,
  'home?': isPath,
  'is_mute?': flag,
}
const EVIDENCE = shaped(
  shape({
    source: text,
    at: time,
    status: isStatus,
    'reason?': text,
    'waiting_for?': text,
    'trouble?': text,
    'rule?': text,
  }),
)
const AGENT_RUN = shape({
  agent: isAgentId,
  recipe: shaped(
    shape({
      tool: text,
      cwd: isPath,
      'model?': text,
      'args?': texts,
      'mcp?': texts,
      'dangerous?': flag,
      'work?': text,
      'account?': text,
      'env_names?': texts,
    }),
  ),
  'binding?': shaped(shape({ session: isSessionId, since: time, how: text, is_confirmed: flag, 'log?': isPath })),
  'launching?': shaped(shape(LAUNCHING)),
  'start?': isStartRecord,
  'run?': shaped(
    shape({
      ...LAUNCHING,
      'server?': SERVER,
      pane: isPane,
      pid: isPid,
      'process_start?': count,
      'program_pid?': isPid,
      'after?': shaped(shape({ reason: text, at: time })),
      'asked?': shaped(
        shape({ how: text, at: time, 'reason?': text, 'by?': OWNER, 'is_down?': flag, 'is_asleep?': flag }),
      ),
      'is_down?': flag,
      'is_asleep?': flag,
      'ended_at?': time,
      'end?': shaped(shape({ how: text, reason: text, 'exit_status?': count, 'signal?': count, 'trouble?': text })),
    }),
  ),
  status: shaped(
    shape({
      status: isStatus,
      since: time,
      source: text,
      'reason?': text,
      'waiting_for?': text,
      'trouble?': text,
      'token?': text,
    }),
  ),
  'respawn?': shaped(
    shape({
      run: text,
      count,
      at: time,
      'work?': text,
      'delay_ms?': count,
      'parked?': shaped(shape({ kind: text, reason: text, next: text, 'until?': time })),
    }),
  ),
  'told?': listOf(EVIDENCE),
  'sample?': EVIDENCE,
  'requests?': listOf(shaped(shape({ id: text, tool: text, 'what?': text, kind: text, 'token?': text }))),
  'background?': shaped(shape({ count, at: time })),
  'heard?': shaped(shape({ at: time, by: text })),
  'silence?': shaped(shape({ run: text, work: text, since: time, nudged_at: time, 'stuck_at?': time })),
  'refused?': texts,
  'pending_prompt?': shaped(
    shape({ at: time, 'typed_at?': time, 'taker?': shaped(shape({ pid: isPid, 'process_start?': count, at: time })) }),
  ),
  'lock?': isIdentityLock,
  'handoff?': isHandoffMarker,
  'sling?': isSlingMarker,
  'handed_off_at?': time,
  'leaving?': shaped(shape({ how: text, at: time })),
  'turn_end?': shaped(shape({ how: text, at: time })),
  'prompted_at?': time,
  'sent_at?': time,
  'turns?': shaped(shape({ session: isSessionId, count })),
  'permission_mode?': text,
  'busy_at?': time,
  'quiet_at?': time,
  'finished_at?': time,
  'acked_at?': time,
  'snoozed_at?': time,
  'snoozed_until?': time,
  'archived_at?': time,
})

/** Undefined when the text is no such file. Checked by hand: this is read for every agent on every list. */
export function readAgentRun(json: string, where: string): AgentRun | undefined {
  const value = readJson(json)
  if (!isObject(value)) return undefined
  if (isNewer(value.v, 1)) throw newerFormat(where)
  return value.v === 1 && misfit(value, AGENT_RUN) === undefined ? (value as unknown as AgentRun) : undefined
}
