import type { SpooledMessage } from '../../journal/index.js'
import type { AgentId, Evidence, Instant, OptionMeaning, SessionId, Wait } from '../../model/index.js'
import type { Environment } from '../log/log-tool.js'
import type { HookInstall } from './hook-install.js'

/** What the program can do. Callers ask here; nobody outside tools/ compares tool names. */
export interface RunAbilities {
  /** `flag`: the program takes the id. `seed`: we write a log for it to resume. `capture`: it is learned from the program. */
  readonly chooseId: 'flag' | 'seed' | 'capture' | 'never'
  readonly resume: boolean
  readonly fork: boolean
  /** It tells us by itself what it does (hooks, a plugin, an extension). */
  readonly tells: boolean
  /** It asks before it acts, so there is something to approve. */
  readonly asks: boolean
  readonly choosesModel: boolean
  readonly mcp: boolean
}

/** What one run of an agent is to be. */
export interface Launch {
  readonly kind: 'new' | 'resume' | 'fork'
  /** New: the id it shall have, where that can be chosen. Resume: the conversation to go on with. Fork: the new id. */
  readonly session?: SessionId
  /** Fork: the conversation to copy. */
  readonly origin?: SessionId
  /** Nothing may be written to other conversations of the same directory, at the price that the program does not keep this one. */
  readonly isAside?: boolean
  readonly agent: AgentId
  readonly cwd: string
  /** The moment of the start, for what is named or stamped by it. */
  readonly startedAt: Instant
  readonly model?: string
  /** Names of MCP servers to load, as far as the tool can be told per run. */
  readonly mcp?: readonly string[]
  /** What to run in place of the tool's own program: the words of the agent's own command. The tool's arguments follow. */
  readonly command?: readonly [string, ...string[]]
  /** More arguments from the user, passed as they are. */
  readonly args?: readonly string[]
  /** Skip the tool's questions, where the user has configured it. */
  readonly dangerous?: boolean
  /** A directory (0700) of this run alone, for the files that `prepare` asks for. It is removed when the agent is. */
  readonly directory: string
  /** How the program tells us things. */
  readonly spool: Spool
  readonly environment: Environment
  /** A port that was free a moment ago, for tools that serve an API (`answer`); 0 for others. */
  readonly port: number
  /** A random secret of this run, for tools whose API asks for one. */
  readonly secret: string
}

/**
 * Where programs put their messages. A message is a file in `directory`: written under a name that starts with a dot, then
 * renamed to `<anything>.msg`. Its first line is JSON `{"v":1,"agent":…,"run":…,"tool":…,"pid":…}` (pid of the program
 * itself where it is known), the rest is the payload as the program gave it.
 */
export interface Spool {
  readonly directory: string
  readonly run: string
  /** A line for `sh` that takes a payload on stdin and puts it into the spool: what hooks are configured with. It starts no Node. */
  readonly command: string
  /** Asks Skein for an answer, for hooks whose output the program reads. Absent where Skein's own program is not known. */
  readonly answer?: HookAnswer
}

/** How a program asks Skein something during a run, see `hookLine`. */
export interface HookAnswer {
  /** A script for `sh <script> <event> <pid>` that puts its standard input into the spool, and then prints the answer if there is one. */
  readonly script: string
  /** The words that print the answer as plain text, for plugins: the event and `--pid <pid>` follow. They read the message on standard input. */
  readonly words: readonly [string, ...string[]]
}

/** Everything needed to start: pure data, carried out by lifecycle/. */
export interface Preparation {
  readonly argv: readonly [string, ...string[]]
  /** Set on top of the user's environment; undefined removes a variable. Goes through a 0600 file, never an argument. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Written (0600) before the start; paths are absolute and lie in `launch.directory` or, for a seeded log, in the tool's own log root. */
  readonly files: readonly { readonly path: string; readonly content: string; readonly onlyIfAbsent?: boolean }[]
  /** Made (by `placeLinks`) before the start, in `launch.directory`: for programs whose whole home has to be named to change one file of it. */
  readonly links?: readonly Link[]
  /** The id the conversation will have; absent when the program alone decides. */
  readonly session?: SessionId
  /** How to learn the id first, for programs that choose it and tell it only when asked. Without an answer, `argv` is run as it is. */
  readonly capture?: Capture
  /** It could not be given hooks: in this run it reports nothing. */
  readonly isMute?: true
}

/** A symbolic link. What it points to need not be there. */
export interface Link {
  readonly path: string
  readonly target: string
  /** The target is a directory, and is made when it is missing: a program that makes its own would trip over the link. */
  readonly isDirectory?: true
}

/** A first run of the program, without a terminal, that makes the conversation and prints its id; a second run resumes it. */
export interface Capture {
  /** Run in the same directory and environment, with no input. What it prints is read by `capturedSession`. */
  readonly argv: readonly [string, ...string[]]
  /** The way to the id in the JSON that it prints: `.session_id`, `.result.id`. */
  readonly jsonPath: string
  /** What to run then, with the id in place of the argument `SESSION_PLACEHOLDER`. */
  readonly resume: readonly [string, ...string[]]
  /** A variable that is to hold the id. */
  readonly env?: string
}

/** Stands for the id in `Capture.resume`, always as an argument of its own. */
export const SESSION_PLACEHOLDER = '{session}'

/**
 * What one message says. An unknown one is counted, not fatal. A finished turn is `idle` here: whether anyone has seen it is
 * not the tool's to say. A `waiting` without `waiting_for` confirms a wait whose kind is known from elsewhere, if it is.
 */
export interface AgentReport {
  readonly evidence?: Omit<Evidence, 'at'>
  /**
   * Which conversation the message comes from, and how the program came to it; `prompted` when its user gave a prompt in it,
   * `unchanged` when the message does not say.
   */
  readonly identity?: {
    readonly session: SessionId
    readonly how: 'startup' | 'resume' | 'clear' | 'compact' | 'fork' | 'prompted' | 'unchanged'
    readonly log?: string
  }
  /** A prompt arrived: the receipt for a send. */
  readonly prompt?: string
  readonly reply?: string
  /** What is asked, for tools that say so: shown with the wait and answered by `answer`. */
  readonly request?: AskedPermission
  /** This request is settled. */
  readonly settled?: string
  /** Background work that goes on after the turn (shells, sub-agents): while it does, the evidence says `running`. */
  readonly background?: number
  readonly ended?: { readonly reason: string }
  /** The program goes on in another conversation, which it will name. */
  readonly leaves?: 'clear' | 'resume'
}

export interface AskedPermission {
  readonly id: string
  readonly tool: string
  /** All of it: the command, the file, the question. */
  readonly what?: string
  readonly kind: Wait
  /** What its dialog has as its `thing`: a dialog with another one asks for something else. */
  readonly exactly?: string
  /** Where that cannot be said: texts that its dialog shows among others. They fit more than one dialog. */
  readonly shows?: readonly string[]
  /** What can be answered, where the program says it and the screen need not be read. */
  readonly options?: readonly { readonly label: string; readonly meaning: OptionMeaning }[]
  /** The program says when each request is settled, so until then it waits, whatever else it does. */
  readonly isTracked?: true
}

/** The screen of a pane, as lines without escape sequences. `width` in columns tells a wrapped line from the next one. */
export interface Screen {
  readonly lines: readonly string[]
  readonly title: string
  readonly width: number
}

/**
 * What a screen shows. `rule` names the pattern that matched; without one the screen is unknown to us. `unknown` with a rule
 * means that something else is in front (a transcript, a picker) or that it is no place to type: the last state still holds.
 */
export interface ScreenReading {
  readonly status: 'starting' | 'running' | 'waiting' | 'idle' | 'error' | 'unknown'
  readonly rule?: string
  readonly reason?: string
  readonly waiting_for?: Wait
  readonly trouble?: Evidence['trouble']
  readonly dialog?: Dialog
  /** Text in the input line that was not sent. */
  readonly draft?: string
  /** It shows a conversation in which nothing was said yet. */
  readonly isNew?: true
}

/** Stands in `Dialog.thing` where a line of the screen ends that may have been wrapped there: in the text there is a blank, or nothing. */
export const WRAPPED = '\u2028'

/** A dialog on the screen: to be answered by moving to the option with a given label, never by number or a bare Enter. */
export interface Dialog {
  readonly kind: 'permission' | 'question' | 'plan' | 'startup'
  readonly question: string
  /** All that the dialog shows above its options. */
  readonly subject: string
  /** The command itself, where the rules know where it begins and ends: nothing before it, nothing behind it. */
  readonly thing?: string
  /** The dialog is longer than the screen, or shows less than the whole: two requests may look the same. */
  readonly isCut?: true
  /** Its first lines are not on the screen: what is seen of the command may be the end of any other. */
  readonly isTopless?: true
  readonly options: readonly DialogOption[]
  /** Which keys move between the options. */
  readonly axis: 'vertical' | 'horizontal'
}

export interface DialogOption {
  readonly label: string
  readonly meaning: OptionMeaning
  /** False for all where only colour tells. */
  readonly isSelected: boolean
  /** What is pressed to choose it, where one does not move to it. */
  readonly keys?: readonly string[]
}

/** A file per process in which the program itself says what it does (Claude's `sessions/<pid>.json`). */
export interface Registry {
  directory(environment: Environment): string
  read(text: string): RegistryEntry | undefined
}

export interface RegistryEntry {
  readonly pid: number
  /** The kernel's start time of that process, which identifies a stale entry of a dead process. */
  readonly processStart?: number
  readonly session: SessionId
  readonly cwd?: string
  /** tmux's pane id, when it runs in one. */
  readonly pane?: string
  readonly evidence: Evidence
}

/** Whether a text may be typed into the program, and as what. */
export type TextCheck =
  | { readonly kind: 'ok'; readonly text: string }
  | { readonly kind: 'refused'; readonly because: string; readonly next: string }

/** Answers a request by the tool's own protocol; throws when the tool did not take it. Returns how it knows. */
export type Answer = (question: {
  readonly request: AskedPermission
  /** What was decided, or the label of the option that was chosen, as its user wrote it. */
  readonly reply: { readonly decision: 'allow' | 'allow-always' | 'deny' } | { readonly choose: string }
  readonly launch: { readonly port: number; readonly secret: string }
  readonly session: SessionId
  readonly signal: AbortSignal
}) => Promise<{ readonly receipt: string }>

/** An agent program, as far as running it goes. `LogTool` of the same name reads its logs. */
export interface ToolRunner {
  readonly name: string
  readonly icon: string
  readonly can: RunAbilities
  prepare(launch: Launch): Preparation
  /** Undefined for a message of a kind that this version does not know. */
  readMessage(message: SpooledMessage): AgentReport | undefined
  readTitle(title: string): Omit<Evidence, 'at'> | undefined
  readScreen(screen: Screen): ScreenReading
  /** The text in its input line, empty when there is none; undefined where no line is seen. Absent for tools whose input line cannot be recognised. */
  readInput?(screen: Screen): string | undefined
  readonly registry?: Registry
  /** Whether the program still has what was said in a conversation, so that it can go on with it. Absent where that is not known. */
  hasConversation?(session: SessionId, environment: Environment): boolean | Promise<boolean>
  /** The conversations that living processes have open; undefined where the program registers none. */
  openConversations?(environment: Environment): ReadonlySet<SessionId> | undefined
  checkText(text: string): TextCheck
  /**
   * Its screen shows an input line before it listens, and what is typed then is lost or changed: it is ready when it has told
   * that it is idle, not when it looks so.
   */
  readonly isReadyWhenTold?: true
  /**
   * Whether this is the picture that the program draws before it asks whether to trust the folder, or for another model: an input line that
   * is none yet. Absent for programs whose input line comes after those questions.
   */
  isFirstPicture?(screen: Screen): boolean
  /** It tells the end of every turn, also of one that was interrupted: a screen that looks idle before that is late. */
  readonly isEndTold?: true
  /** No rule says how it looks at its prompt: it is idle when its screen stays as it is. */
  readonly isIdleWhenQuiet?: true
  /** The variable in which the program, or what it starts, looks for the id of its conversation. */
  readonly sessionVariable?: string
  /** How the program is given another directory for its account, settings and logs, and where its logs are below that. */
  readonly account?: { readonly variable: string; root(directory: string): string }
  /** Where the logs of a run that is aside are, below the directory of that run. Absent where they are with all others. */
  rootAside?(directory: string): string
  readonly keys: {
    readonly interrupt: readonly string[]
    /** Empties the input line of a few lines; may be repeated while a draft is seen. Does nothing in an empty one. */
    readonly clear: readonly string[]
    /** Leaves the program from an empty input line. */
    readonly quit: readonly string[]
  }
  /** Whether a process of this name (comm or argv[0]) is the program and not something it runs. */
  isProcess(name: string): boolean
  readonly answer?: Answer
  /** How Skein's hooks get into the user's own settings. Absent where the program has no hooks. */
  readonly install?: HookInstall
}
