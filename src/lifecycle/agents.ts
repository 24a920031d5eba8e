import type { Agent, AgentId, AgentStatus, Evidence, Instant, Session, WorkUnit } from '../model/index.js'
import type { ScreenReading } from '../tools/index.js'
import type { AgentRun, Binding } from './agent-run.js'
import type { Checkpoint, CheckpointNotes } from './care/checkpoint.js'
import type { Heartbeat } from './care/heartbeat.js'
import type { ForkRequest } from './fork/fork-plan.js'
import type { Resurrection, ResurrectRequest } from './fork/resurrect.js'
import type { DoneOptions } from './handoff/done.js'
import type { HandoffKind } from './handoff/marker.js'
import type { PackReport, PackRequest } from './pack/pack.js'
import type { UnpackRequest } from './pack/unpack.js'
import type { Fall } from './recover/fall.js'
import type { Recovered } from './recover/recover.js'
import type { StartRecord, StartStepName } from './run/start-steps.js'
import type { CalledUp } from './seance/talk.js'
import type { Phase } from './status/phase.js'
import type { PromptOutcome } from './talk/reply.js'
import type { TurnBranchView } from './turns/turn-branch.js'

/** An agent with what it is doing, as faces show it. */
export interface AgentView extends Agent, AgentStatus {
  session_id?: string
  /** Since when it is in this session, how it came to it, and whether its program has said so itself. */
  session_since?: Instant
  session_how?: Binding['how']
  session_confirmed?: boolean
  tmux_session?: string
  pane?: string
  /** The process it was started as, while or after it ran. */
  pid?: number
  branch?: string
  /** Why nothing can work in its directory: it is gone, a file, not ours to enter. */
  cwd_problem?: string
  model?: string
  /** Where it is in its life, while it runs or hands off. */
  phase?: Phase
  /** Its last sign of life, while it runs. */
  heartbeat?: Heartbeat
  /** Tokens that its conversation had when it was last sent, as far as its log was ingested. */
  context_tokens?: number
  cost_micro_usd?: number
  /** Calls of models without a known price: what they cost is not in the sum. */
  unpriced_calls?: number
  /** A prompt was kept for it then, and is sent as soon as it can be typed. */
  pending_prompt_at?: Instant
  archived_at?: Instant
  snoozed_until?: Instant
  /** It is down although nobody asked for it; `skein recover` brings it back. */
  down?: Fall['how']
  /** The watchdog starts it again then, for the how manieth time. */
  respawn?: { count: number; at: Instant }
  /** The watchdog leaves it down: why, and what to do. */
  parked?: NonNullable<Fall['parked']>
  /** It runs and has reached its usage limit, which ends then, as its program says. */
  limit_until?: Instant
}

/** What was made from a pack. */
export interface UnpackReceipt extends Receipt {
  session: string
  source_session_id: string
  turn?: number
  turns: number
  /** `cut`: the lines of the program's own log. `written`: made from the words. */
  conversation: 'cut' | 'written'
  cwd: string
  directory?: string
  branch?: string
  /** Sessions of the chain that were not known here. */
  recorded: string[]
  missing: { path: string; reason: string }[]
  left_out: { what: string; count: number }[]
}

export interface StartAgent {
  /** Address of an agent that exists, or of the one to make. A name is made up from the directory when it is left out. */
  agent?: string
  /** Where it runs. Needed for an agent that is made now; one that exists is started where it was before. */
  cwd?: string
  /** Where the caller is: a new agent works there when neither `cwd` nor its role names a directory. */
  here?: string
  /** Unless it is given, the tool that `command` runs, else the tool of the agent, else the default one. */
  tool?: string
  /** What the agent runs in place of the tool's own program, as words of a command line. The tool's arguments follow. */
  command?: string
  title?: string
  group?: string
  role?: string
  parent?: string
  model?: string
  prompt?: string
  work?: string
  /** Why it is started, for the beacon and its session: `cold-start`, `assigned`, `patrol`. One is chosen when it is left out. */
  topic?: string
  /** An account of its tool, from `[accounts.<name>]`. */
  account?: string
  env?: Readonly<Record<string, string>>
  mcp?: readonly string[]
  args?: readonly string[]
  dangerous?: boolean
  /** Also when the process before may still run on another host or in another container, which cannot be seen from here. */
  force?: boolean
}

export interface StartNow extends StartAgent {
  /**
   * A session of the history to go on with, whoever began it: its id, a beginning of it, or an agent. Its record says which tool runs
   * and where. The agent that it belongs to is started; without one, a new agent or the one that is named.
   */
  resume?: string
  /** A new agent works in a git worktree of its own, on a new branch. */
  worktree?: boolean
  /** Called before each step of the start; what it throws fails that step, and the start is undone. */
  onStep?: (step: StartStepName) => void
  /** Takes the start back when it is aborted before its program runs; later, the agent is simply up. */
  signal?: AbortSignal
}

/** What an operation did and how it knows; `how` is one line for a person ("registry says idle", "process 4711 runs"). */
export interface Receipt {
  agent: AgentView
  did: string
  how: string
}

/** What became of an agent that was to be brought back. */
export type RecoveryReceipt = Omit<Recovered, 'agent'> & { agent: AgentView }

export interface SendReceipt extends Receipt {
  /** `received`: a hook or the log confirmed it. `stalled`: typed, but nothing moved. */
  delivery: 'received' | 'typed' | 'stalled'
  /** What the prompt led to, when that was waited for. */
  outcome?: PromptOutcome['outcome']
  /** What was said to this prompt, and to no other. */
  reply?: string
  /** Why there is no reply. */
  reason?: string
}

/** A unit of work for an agent of a group. */
export interface SlingRequest {
  work: string
  group: string
  role?: string
  tool?: string
  /** A directory of the repository to work in. */
  repo?: string
}

export interface SlingReceipt extends Receipt {
  work: WorkUnit
  /** The agent was made for it. */
  is_new: boolean
  worktree?: string
  branch?: string
}

/** What to hand off, and how. */
export interface HandoffRequest {
  /** The agent that asks: it hands off itself, unless `target` names another. */
  agent?: string
  /** A unit of work to hook first, an agent, or a role that one agent has. */
  target?: string
  kind?: HandoffKind
  subject?: string
  message?: string
  collect?: boolean
  reason?: string
  tool?: string
  /** Say what would be done, and change nothing. */
  dryRun?: boolean
}

export interface HandoffReceipt extends Receipt {
  kind: HandoffKind | 'done'
  /** False when nothing was changed: a dry run. */
  is_done: boolean
  from?: string
  /** The session that continues it, where that is known. */
  to?: string
  mail?: string
  subject?: string
  body?: string
  /** What is not committed or not pushed. */
  unsaved: string[]
}

/** A fork that was made. */
export interface ForkReceipt extends Receipt {
  session?: string
  source_session_id: string
  /** The last turn that it shares with its source; absent when it shares none. */
  turn?: number
  /** `cut`: the conversation itself. `written`: in the form of another program. `context`: a summary in its first prompt. `new`: none. */
  conversation: 'cut' | 'written' | 'context' | 'new'
  turns: number
  /** What could not be carried over to another program. */
  left_out: { what: string; count: number }[]
  cwd: string
  worktree?: string
  branch?: string
  /** Files of that turn that its snapshot does not have. */
  missing: { path: string; reason: string }[]
  /** With a worktree: false when the snapshot is incomplete, or was taken after files had changed. */
  is_exact?: boolean
  /** The files that had changed. */
  late: string[]
  /** Ignored files that `.worktreeinclude` names: how many were copied, and which were not. */
  included: number
  not_included: { path: string; because: string }[]
}

export interface DoneReceipt extends Receipt {
  session?: string
  /** Units of work that were closed. */
  closed: string[]
  /** The program that submitted the work; absent when nothing was submitted. */
  submitted?: string
}

export interface RecordedScreen {
  agent: AgentView
  tool: string
  width: number
  title: string
  lines: string[]
  reading: ScreenReading
}

export interface Explanation {
  agent: AgentView
  /** What each source says now, best first, and which one decided. */
  evidence: (Evidence & { decided: boolean })[]
  /** Status changes from the journal, newest first. */
  history: { at: Instant; status: string; reason?: string; waiting_for?: string; source: string }[]
  /** The steps of its last start, with the time that each took. */
  start?: StartRecord
  /** The branch with one commit per turn, if it has one. */
  turn_branch?: TurnBranchView
}

/** Every operation on running agents. References are an address, an id, or a unique end of an address. */
export interface Agents extends AsyncDisposable {
  /** Makes the agent without starting it, so that work can be hooked to it in between. */
  spawn(options: StartAgent): Promise<AgentView>
  start(options: StartNow): Promise<Receipt & { session?: Session }>
  stop(reference: string, options?: { graceMs?: number }): Promise<Receipt>
  kill(reference: string): Promise<Receipt>
  /** Ends the program of an idle agent and keeps its conversation; refused for whatever would be lost. */
  sleep(reference: string): Promise<Receipt>
  /** Starts an agent that is asleep, in its conversation; leaves any other as it is. `send` does it by itself. */
  wake(reference: string): Promise<Receipt>
  /** Like `stop`, and remembers that it was up. */
  down(reference: string, options?: { graceMs?: number }): Promise<Receipt>
  restart(
    reference: string,
    options?: { fresh?: boolean; force?: boolean; env?: Readonly<Record<string, string>> },
  ): Promise<Receipt & { tier: 'respawned' | 'recreated' }>
  /** Gives a unit of work to an agent of a group that has nothing to do, or to a new one, and starts it. */
  sling(request: SlingRequest): Promise<SlingReceipt>
  /** Makes agents of their own from a past turn of a session: its files in a new worktree, its conversation up to there. */
  fork(request: ForkRequest): Promise<ForkReceipt[]>
  /** Hands an agent's work to its next session, in place; a handoff that was cut off is finished instead. */
  handoff(request: HandoffRequest): Promise<HandoffReceipt>
  /** Closes the agent's work, ends its session with the outcome `done`, and stops it. */
  done(reference: string, options?: DoneOptions): Promise<DoneReceipt>
  /** Asks a past session, in a copy. Without a prompt the agent stays. */
  talkSeance(
    reference: string,
    options: { prompt?: string; tool?: string; isNewest?: boolean; timeoutMs: number; signal?: AbortSignal },
  ): Promise<Omit<CalledUp, 'agent'> & { session: string; agent: AgentView; reply?: string; reason?: string }>
  /** Writes the log of a session again that its tool has deleted, so that it can be resumed. */
  resurrect(reference: string, request?: ResurrectRequest): Promise<Resurrection>
  /** Writes sessions with their words and code as one file. */
  pack(request: PackRequest): Promise<PackReport>
  /** Makes an agent from such a file, which goes on with its last session once it is started. */
  unpack(request: UnpackRequest): Promise<UnpackReceipt>
  /** Saves where an agent is in its work. */
  writeCheckpoint(reference: string, given: CheckpointNotes): Promise<{ agent: string; checkpoint: Checkpoint }>
  /** Undefined when there is none of the last day. */
  readCheckpoint(reference: string): Promise<{ agent: string; checkpoint: Checkpoint } | undefined>
  clearCheckpoint(reference: string): Promise<{ agent: string; cleared: boolean }>
  /** Brings back agents that are down although nobody asked for it, or those that are named. */
  recover(options: {
    agents?: readonly string[]
    group?: string
    all?: boolean
    /** In place of those that are down unasked: those that `down` has stopped. */
    isUp?: boolean
    dryRun?: boolean
    spacingMs: number
    signal?: AbortSignal
    /** Hears of each as it is done. */
    tell?: (one: RecoveryReceipt) => void
  }): Promise<RecoveryReceipt[]>
  send(
    reference: string,
    text: string,
    options?: { wait?: boolean; timeoutMs?: number; replaceDraft?: boolean; signal?: AbortSignal },
  ): Promise<SendReceipt>
  wait(
    reference: string,
    options: { until: 'waiting' | 'idle' | 'done'; timeoutMs?: number; signal?: AbortSignal },
  ): Promise<AgentView>
  keys(reference: string, keys: readonly string[]): Promise<Receipt>
  answer(
    reference: string,
    answer: { decision: 'allow' | 'allow-always' | 'deny' } | { choose: string },
    options?: { token?: string },
  ): Promise<Receipt>
  output(
    reference: string,
    options?: { screen?: boolean },
  ): Promise<{ agent: AgentView; text: string; from: 'log' | 'screen'; is_earlier?: true }>
  ack(reference: string): Promise<Receipt>
  snooze(reference: string, until: Instant): Promise<Receipt>
  /** A new name in the same group; its tmux session is renamed with it. */
  rename(reference: string, name: string): Promise<Receipt>
  /** Into another group; undefined moves it to the top. */
  move(reference: string, group: string | undefined): Promise<Receipt>
  archive(reference: string): Promise<Receipt>
  unarchive(reference: string): Promise<Receipt>
  /** The program it runs. Refused while it runs. Its conversation with the tool before comes back with that tool. */
  setTool(reference: string, tool: string): Promise<Receipt>
  /** Agents with a process that runs, or may run where it cannot be seen. */
  running(): Promise<Agent[]>
  /** Refused while it runs, unless `force` kills it. */
  remove(reference: string, options?: { force?: boolean }): Promise<Receipt>
  /** Brings back the agent that was removed last (or the one named), while that is possible. */
  undoRemove(reference?: string): Promise<Receipt>
  /** The address of the agent that is meant, or undefined when there is none. */
  find(reference: string): Promise<string | undefined>
  /** How to attach: the command for a terminal of the user's, inside or outside tmux. */
  attachCommand(reference: string, inside: { tmux?: string }): Promise<readonly [string, ...string[]]>
  /** While a person looks at its terminal: has it show the end of its program at once, also where no daemon runs. */
  attend(reference: string): Promise<Disposable>
  list(filter?: { group?: string; all?: boolean }): Promise<AgentView[]>
  why(reference: string): Promise<Explanation>
  /** An outside program tells what its agent does. */
  report(reference: string, evidence: Omit<Evidence, 'at' | 'source'>): Promise<AgentView>
  /** Reads the reports of these agents, or of all, and polls them: what a daemon does when something has changed. */
  observe(agents?: readonly AgentId[]): Promise<AgentView[]>
  /** The screen of an agent, with how it was read: to be added to the recorded screens that detection is tested with. */
  record(reference: string): Promise<RecordedScreen>
  /** The stored state, for the daemon. */
  runs(): Promise<AgentRun[]>
}
