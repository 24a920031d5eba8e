/** Every way Skein can fail that it can explain. Scripts match on these, so a code is never renamed. */
export type ErrorCode =
  | 'usage'
  | 'bad-address'
  | 'bad-config'
  | 'bad-id'
  | 'bad-input'
  | 'bad-key'
  | 'bad-time'
  | 'ambiguous-id'
  | 'agent-busy'
  | 'agent-died'
  | 'agent-elsewhere'
  | 'agent-exists'
  | 'agent-not-found'
  | 'agent-not-ready'
  | 'agent-not-running'
  | 'agent-running'
  | 'budget-used-up'
  | 'checkpoint-not-found'
  | 'conversation-busy'
  | 'conversation-conflict'
  | 'conversation-not-found'
  | 'cut-differs'
  | 'daemon-failed'
  | 'daemon-unreachable'
  | 'disk-full'
  | 'foreign-conversation'
  | 'git-failed'
  | 'git-missing'
  | 'group-exists'
  | 'group-not-empty'
  | 'group-full'
  | 'group-not-found'
  | 'group-parked'
  | 'handoff-too-soon'
  | 'home-not-ours'
  | 'home-busy'
  | 'home-read-only'
  | 'home-unreadable'
  | 'illegal-transition'
  | 'index-damaged'
  | 'interrupted'
  | 'newer-format'
  | 'not-answered'
  | 'not-archived'
  | 'nothing-asked'
  | 'on-done-failed'
  | 'pack-damaged'
  | 'pane-gone'
  | 'profile-exists'
  | 'profile-not-found'
  | 'sdk-missing'
  | 'send-denied'
  | 'session-exists'
  | 'session-not-found'
  | 'setup-failed'
  | 'snapshot-not-found'
  | 'snapshot-refused'
  | 'spawn-refused'
  | 'stale-answer'
  | 'store-damaged'
  | 'store-locked'
  | 'text-refused'
  | 'timed-out'
  | 'role-unknown'
  | 'tool-unknown'
  | 'tmux-gone'
  | 'tmux-missing'
  | 'tmux-refused'
  | 'tmux-timeout'
  | 'transcript-damaged'
  | 'transcript-in-use'
  | 'turn-failed'
  | 'turn-open'
  | 'machine-full'
  | 'mail-not-found'
  | 'work-not-found'
  | 'work-provider'
  | 'work-taken'

/** A failure we can explain. Anything else that reaches the top is a bug and prints as one. */
export class SkeinError extends Error {
  override readonly name = 'SkeinError'
  /** More lines about it, such as what a program printed last. From data: whoever prints them must escape them. */
  readonly details: readonly string[]
  constructor(
    readonly code: ErrorCode,
    message: string,
    /** What the user should type or do next. */
    readonly next: string,
    options: { cause?: unknown; details?: readonly string[] } = {},
  ) {
    super(message, options.cause === undefined ? {} : { cause: options.cause })
    this.details = options.details ?? []
  }
}

/** Ends a switch that must be complete: a new kind fails to compile in each place that has to learn it. */
export function unreachable(value: never): never {
  throw new Error(`unreachable: ${JSON.stringify(value)}`)
}
