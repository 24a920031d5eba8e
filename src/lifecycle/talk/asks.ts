import {
  type AgentId,
  type AgentStatus,
  type Ask,
  type Instant,
  instantOf,
  msOf,
  type Wait,
} from '../../model/index.js'
import { type Dialog, WRAPPED } from '../../tools/index.js'
import { activityOf } from '../status/evidence.js'
import { isSameRequest, type PendingRequest } from './pending-request.js'
import { digestOf, holdsPrint, isEndOf, isPrinted } from './text-print.js'

/** A wait that began so much later than the one a request was seen in is another wait. Its sources date one wait a little apart. */
const OTHER_WAIT_MS = 1_000
/** A program that has gone on for so long since it asked has been answered, whether or not it said so. */
const FORGOTTEN_MS = 5_000
/** On a busy machine the message of a hook may come so long after its dialog. */
const LATE_MS = 3_000

/** What is known of what an agent asks. */
export interface Asking {
  agent: AgentId
  /** The run it is asked in. */
  run: string
  now: Instant
  status: AgentStatus
  requests: readonly PendingRequest[]
  /** What its screen shows; undefined when it was not read, or shows none that can be read. */
  dialog?: Dialog | undefined
  /** The dialog that it was last seen with (`dialogPrint`), and what it was said to ask then. */
  before?: { dialog: string; ask: Ask } | undefined
}

export interface Asked {
  asks: Ask[]
  /** What is still open, with what was learned of it. */
  requests: PendingRequest[]
  /** The ask that the dialog on the screen is for. */
  inFront?: Ask
  /** The request behind it, where the program told of one that its dialog shows. */
  shown?: PendingRequest
}

/**
 * Everything that an agent asks, each with a token of its own. A request that the program told is named by its id and the
 * moment it was asked; a dialog that no request is known for is named by all that it shows. So a token names one request,
 * and what is asked next has another.
 */
export function asksOf(asking: Asking): Asked {
  const { status, requests, dialog } = asking
  if (activityOf(status) !== 'blocked') return { asks: [], requests: remaining(asking) }
  const tracked = requests.filter(({ isTracked }) => isTracked)
  if (tracked.length > 0) return { asks: tracked.map((request) => askOf(asking, request)), requests: tracked }
  if (!dialog) {
    const asks = requests.map((request) => askOf(asking, request))
    return { asks: asks.length > 0 ? asks : [namelessAsk(asking)], requests: [...requests] }
  }
  const print = dialogPrint(dialog)
  const shown = shownRequest(asking, dialog, print)
  // One that was seen and is no longer there was answered.
  const open = requests.filter((request) => request === shown || request.dialog === undefined)
  const token = shown && (shown.token ?? tokenBefore(asking, shown, dialog, print))
  const seen = shown && {
    ...{ ...shown, dialog: print, shown_since: shown.shown_since ?? status.since },
    ...(token ? { token } : {}),
  }
  const inFront = dialogAsk(asking, dialog, print, seen)
  const queued = open.filter((request) => request !== shown).map((request) => askOf(asking, request))
  return {
    asks: [inFront, ...queued.map((ask) => ({ ...ask, is_queued: true }))],
    requests: open.map((request) => (request === shown && seen ? seen : request)),
    inFront,
    ...(seen ? { shown: seen } : {}),
  }
}

/**
 * The very dialog: what it asks for and its options, whichever option is chosen and however its lines are wrapped. Blanks and new
 * lines of what would be run count: a new line ends a command.
 */
export function dialogPrint({ kind, question, subject, thing, options }: Dialog): string {
  const isExact = kind === 'permission' && thing === undefined
  const shown = [question, isExact ? '' : subject].map((text) => text.replace(/\s+/g, ' '))
  const run = isExact ? subject : (thing ?? '').replaceAll(WRAPPED, ' ')
  return digestOf(JSON.stringify([kind, shown, run, options.map(({ label }) => label)]))
}

/** The request that this dialog asks for. Its words must be on the screen: what was asked last need not be what is shown. */
function shownRequest({ requests, status }: Asking, dialog: Dialog, print: string): PendingRequest | undefined {
  const isPast = ({ shown_since }: PendingRequest): boolean =>
    shown_since !== undefined && msOf(status.since) - msOf(shown_since) > OTHER_WAIT_MS
  const open = requests.filter((request) => !isPast(request) && request.kind === waitOf(dialog))
  const seen = open.find((request) => request.dialog === print)
  const exact = open.filter((request) => isAskedBy(request, dialog))
  // Two that read the same where they can be seen: also the one that was seen first may have been answered since.
  if (exact.some(({ id }) => id !== (seen ?? exact[0])?.id)) return undefined
  if (seen ?? exact[0]) return seen ?? exact[0]
  const [only, ...others] = open.filter(
    ({ dialog: other, exact: thing, prints = [] }) =>
      other === undefined && !thing && prints.every((one) => holdsPrint(dialog.subject, one)),
  )
  return others.length === 0 ? only : undefined
}

/** Whether the dialog is for this request: the thing that it shows is the thing that was asked for, or all that it has room for is. */
export const isAskedBy = (request: PendingRequest, dialog: Dialog): boolean => {
  const [{ exact }, { thing }] = [request, dialog]
  if (exact === undefined || thing === undefined) return false
  return isPrinted(thing, exact, dialog) || isEndOf(thing, exact, dialog)
}

/** Whether the dialog shows all of it, also that there is something which cannot be seen. */
export const isShownWhole = ({ exact }: PendingRequest, dialog: Dialog): boolean =>
  exact !== undefined && dialog.thing !== undefined && isPrinted(dialog.thing, exact.marked ?? exact, dialog)

/**
 * The token that the dialog had before the program told what it is for: whoever was shown it may answer with it. Only for the thing
 * that the dialog shows, and only where the two came within a moment: the same may be asked again.
 */
function tokenBefore(
  { before, status }: Asking,
  request: PendingRequest,
  dialog: Dialog,
  print: string,
): string | undefined {
  if (before?.dialog !== print || before.ask.tool !== undefined || request.dialog !== undefined) return undefined
  const isLate = msOf(request.at ?? status.since) - msOf(before.ask.since) <= LATE_MS
  return isLate && isShownWhole(request, dialog) ? before.ask.token : undefined
}

/** It does something else now: what it asked long enough ago was answered. */
function remaining({ requests, now }: Asking): PendingRequest[] {
  const since = instantOf(msOf(now) - FORGOTTEN_MS)
  return requests.filter(({ isTracked, at = instantOf(0) }) => isTracked || at > since)
}

const waitOf = ({ kind }: Dialog): Wait => (kind === 'startup' ? 'question' : kind)

function askOf(asking: Asking, request: PendingRequest): Ask {
  const { kind, tool, what, options, at = asking.status.since } = request
  return {
    token: request.token ?? tokenOf(asking, kind, at, ['request', request.id, at]),
    kind,
    since: at,
    tool,
    ...(what === undefined ? {} : { what }),
    ...(options ? { options: options.map(({ label, meaning }) => ({ label, meaning })) } : {}),
  }
}

function dialogAsk(asking: Asking, dialog: Dialog, print: string, shown: PendingRequest | undefined): Ask {
  const options = dialog.options.map(({ label, meaning }) => ({ label, meaning }))
  // One that is known beyond doubt is named by what the program told: so it had its name before it was drawn.
  if (shown && isAskedBy(shown, dialog)) return { ...askOf(asking, shown), options }
  const { since, waiting_for = waitOf(dialog) } = asking.status
  // What nothing on the screen vouches for is not said to be what it asks.
  const { tool, what = dialog.subject || dialog.question } = shown?.prints?.length ? shown : {}
  const name = ['dialog', print, shown?.id ?? '', shown?.at ?? '']
  const token = tokenOf(asking, waiting_for, since, name)
  return { token, kind: waiting_for, since, ...(tool ? { tool } : {}), what, options }
}

/** It waits, and neither it nor its screen says for what: there is nothing that could be answered. */
const namelessAsk = ({ status }: Asking): Ask => ({
  token: status.token ?? '',
  kind: status.waiting_for ?? 'permission',
  since: status.since,
})

function tokenOf({ agent, run }: Asking, kind: Wait, at: Instant, name: readonly string[]): string {
  return `${kind}-${msOf(at).toString(36)}-${digestOf(JSON.stringify([agent, run, ...name])).slice(0, 12)}`
}

/** What is left open when this one was answered. */
export const withoutRequest = (
  requests: readonly PendingRequest[],
  answered: PendingRequest | undefined,
): PendingRequest[] => requests.filter((request) => !answered || !isSameRequest(request, answered))
