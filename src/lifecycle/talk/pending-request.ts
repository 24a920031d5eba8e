import type { Evidence, Instant } from '../../model/index.js'
import type { AgentReport, AskedPermission } from '../../tools/index.js'
import { printOf, type TextPrint } from './text-print.js'

/** So many open requests of one agent are remembered. */
const MAX_REQUESTS = 20
/** Of a longer text the first part is kept. */
const MAX_WHAT = 4_000

/** What a program asked, as it is stored: with prints in place of the words that its dialog shows. */
export interface PendingRequest extends Omit<AskedPermission, 'shows' | 'exactly'> {
  /** When it was asked: the same thing asked again is another request. Absent in files of older versions. */
  at?: Instant
  exact?: TextPrint
  prints?: TextPrint[]
  /** The dialog that was seen to ask for it (`dialogPrint`), and since when the agent waited then. */
  dialog?: string
  shown_since?: Instant
  /** What names it, where its dialog was seen before the program told of it. */
  token?: string
}

export function pendingOf({ exactly, shows, what, ...request }: AskedPermission, at: Instant): PendingRequest {
  const text = what !== undefined && what.length > MAX_WHAT ? `${what.slice(0, MAX_WHAT)} …` : what
  return {
    ...request,
    ...(text === undefined ? {} : { what: text }),
    at,
    ...(exactly === undefined ? {} : { exact: printOf(exactly) }),
    ...(shows ? { prints: shows.map(printOf) } : {}),
  }
}

export const isSameRequest = (a: PendingRequest, b: PendingRequest): boolean => a.id === b.id && a.at === b.at

/**
 * What is open after a message. The end of a turn and its failure settle all that was asked in it, and so does a new prompt,
 * except where the program says of each when it is settled: such a prompt may have been queued. A program without ids of its
 * own may ask the same twice: then each answer settles the oldest. A message may be taken twice.
 */
export function openRequests(
  open: readonly PendingRequest[],
  { settled, prompt, evidence }: Pick<AgentReport, 'settled' | 'prompt' | 'evidence'>,
  asked?: PendingRequest,
): PendingRequest[] {
  const isOver = evidence?.status === 'idle' || evidence?.status === 'error' || evidence?.waiting_for === 'finished'
  const oldest = open.findIndex(({ id }) => id === settled)
  const left = open.filter(
    (request, at) =>
      !isOver &&
      at !== oldest &&
      (request.isTracked || prompt === undefined) &&
      !(asked && (asked.isTracked ? request.id === asked.id : isSameRequest(request, asked))),
  )
  return asked ? [...left, asked].slice(-MAX_REQUESTS) : left
}

/** While a request is open whose end the program would tell, other things that it does are no sign that it goes on. */
export function stillAsks(
  evidence: Omit<Evidence, 'at'> | undefined,
  open: readonly PendingRequest[],
): Omit<Evidence, 'at'> | undefined {
  const first = open.find(({ isTracked }) => isTracked)
  if (!first || evidence?.status !== 'running') return evidence
  return { ...evidence, status: 'waiting', waiting_for: first.kind, reason: reasonOf(first) }
}

const reasonOf = ({ kind, tool }: PendingRequest): string =>
  kind === 'permission' ? `permission prompt: ${tool}` : kind === 'plan' ? 'asks to approve a plan' : 'asks a question'
