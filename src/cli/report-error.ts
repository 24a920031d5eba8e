import { type ErrorCode, SkeinError } from '../model/index.js'
import { errorFacts, jsonLine } from '../operations/index.js'
import { safeText } from './screen/safe-text.js'

export type ExitCode = 0 | 1 | 2 | 70

/** What was typed or written in a file is wrong (2), or it was right and could not be done (1). */
const EXIT_CODES: Readonly<Record<ErrorCode, 1 | 2>> = {
  usage: 2,
  'bad-address': 2,
  'bad-config': 2,
  'bad-id': 2,
  'bad-input': 2,
  'bad-key': 2,
  'bad-time': 2,
  'ambiguous-id': 1,
  'agent-busy': 1,
  'agent-died': 1,
  'agent-elsewhere': 1,
  'agent-exists': 1,
  'agent-not-found': 1,
  'agent-not-ready': 1,
  'agent-not-running': 1,
  'agent-running': 1,
  'budget-used-up': 1,
  'checkpoint-not-found': 1,
  'conversation-busy': 1,
  'conversation-conflict': 1,
  'conversation-not-found': 1,
  'cut-differs': 1,
  'daemon-failed': 1,
  'daemon-unreachable': 1,
  'disk-full': 1,
  'foreign-conversation': 1,
  'git-failed': 1,
  'git-missing': 1,
  'group-exists': 1,
  'group-not-empty': 1,
  'group-not-found': 1,
  'handoff-too-soon': 1,
  'home-not-ours': 1,
  'home-busy': 1,
  'home-read-only': 1,
  'home-unreadable': 1,
  'illegal-transition': 1,
  'index-damaged': 1,
  interrupted: 1,
  'newer-format': 1,
  'not-answered': 1,
  'not-archived': 1,
  'nothing-asked': 1,
  'on-done-failed': 1,
  'pack-damaged': 1,
  'pane-gone': 1,
  'profile-exists': 1,
  'profile-not-found': 1,
  'sdk-missing': 1,
  'send-denied': 1,
  'session-exists': 1,
  'session-not-found': 1,
  'setup-failed': 1,
  'snapshot-not-found': 1,
  'snapshot-refused': 1,
  'spawn-refused': 1,
  'stale-answer': 1,
  'store-damaged': 1,
  'store-locked': 1,
  'text-refused': 1,
  'timed-out': 1,
  'role-unknown': 2,
  'tool-unknown': 2,
  'tmux-gone': 1,
  'tmux-missing': 1,
  'tmux-refused': 1,
  'tmux-timeout': 1,
  'transcript-damaged': 1,
  'transcript-in-use': 1,
  'turn-failed': 1,
  'turn-open': 1,
  'group-full': 1,
  'group-parked': 1,
  'machine-full': 1,
  'mail-not-found': 1,
  'work-not-found': 1,
  'work-provider': 1,
  'work-taken': 1,
}

export interface ErrorReport {
  exitCode: ExitCode
  /** For stderr; undefined when there is nothing to say. */
  line: string | undefined
}

/** What a program sees of an error. */
export interface ErrorDocument {
  error: { code: ErrorCode | 'bug'; message: string; next: string; details?: readonly string[]; stack?: string }
}

/** What the user sees of an error: one line, or with `json` one document, and a stack only when asked for. */
export function reportError(error: unknown, options: { debug: boolean; json: boolean }): ErrorReport {
  if (isClosedPipe(error)) return { exitCode: 0, line: undefined }
  const exitCode = error instanceof SkeinError ? EXIT_CODES[error.code] : 70
  const stack = options.debug && error instanceof Error ? `${error.stack}${causes(error)}` : undefined
  if (options.json) {
    const { error: facts } = errorDocument(error)
    return { exitCode, line: jsonLine({ error: { ...facts, ...(stack ? { stack } : {}) } }) }
  }
  const hint = exitCode === 70 && !options.debug ? ' - set SKEIN_DEBUG=1 for the stack' : ''
  return { exitCode, line: `${errorLine(error)}${hint}${stack ? `\n${stack}` : ''}` }
}

/** An error as it is printed: one line, and its details below. */
export function errorLine(error: unknown): string {
  if (error instanceof SkeinError) {
    return [`skein: ${safeText(explanation(error))}`, ...error.details.map((line) => `  ${safeText(line)}`)].join('\n')
  }
  return `skein: This is a bug in Skein: ${safeText(messageOf(error))}`
}

export function errorDocument(error: unknown): ErrorDocument {
  if (error instanceof SkeinError) return { error: errorFacts(error) }
  return { error: { code: 'bug', message: messageOf(error), next: 'Set SKEIN_DEBUG=1 for the stack' } }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/**
 * Message, then what to do. People double-click an id to copy it, so no full stop may touch one: a message about what was
 * typed ends in our own words, any other may end in an id.
 */
function explanation({ code, message, next }: SkeinError): string {
  const text = message.replace(/\.$/, '')
  const endsInOurWords = EXIT_CODES[code] === 2 || /\W$/.test(text)
  return next === '' ? text : `${text}${endsInOurWords ? '. ' : ' - '}${next}`
}

/** The reader of our output went away (`| head`): nothing is wrong. */
export function isClosedPipe(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EPIPE'
}

function causes(error: Error): string {
  return error.cause instanceof Error ? `\nCaused by: ${error.cause.stack}${causes(error.cause)}` : ''
}
