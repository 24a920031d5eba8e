import { type Event, type Instant, isInstant, type Session } from '../model/index.js'
import { emptyTurn, type Fact, type LoggedTurn, type TurnOutcome } from '../tools/index.js'

const OUTCOMES: Readonly<Record<string, TurnOutcome>> = {
  finished: 'completed',
  failed: 'failed',
  interrupted: 'aborted',
}

interface Draft {
  turn: LoggedTurn
  prompts: string[]
}

/**
 * The turns of a program without a log, as they were seen. One begins when the program starts to work, or with a prompt that was sent to it,
 * and ends when it waits again. What is sent while it works belongs to the turn that goes on: nothing says where that one ends. A prompt at which
 * the program ended, before anybody saw it work, is a turn, too.
 */
export function runTurns(events: readonly Event[], { ended_at }: Pick<Session, 'ended_at'>): LoggedTurn[] {
  const drafts = new Map<number, Draft>()
  let open: Draft | undefined
  let waiting: { prompt: string; at: Instant }[] = []
  for (const { type, at, payload } of inOrder(events)) {
    const { turn: number, prompt, how } = payload
    if (type === 'turn_prompted' && typeof prompt === 'string') {
      if (open) open.prompts.push(prompt)
      else waiting.push({ prompt, at })
    } else if (type === 'turn_began' && isNumber(number) && !drafts.has(number)) {
      if (open) open.turn.outcome = 'aborted' // its end was not seen
      open = draftOf(number, at, waiting)
      waiting = []
      drafts.set(number, open)
    } else if (type === 'turn_ended' && open) {
      end(open.turn, at, OUTCOMES[String(how)] ?? 'completed')
      open = undefined
    }
  }
  const [unseen] = waiting
  if (ended_at !== undefined && unseen) {
    const number = Math.max(0, ...drafts.keys()) + 1
    open = draftOf(number, unseen.at, waiting)
    drafts.set(number, open)
  }
  if (open && ended_at !== undefined) end(open.turn, ended_at, 'aborted')
  const turns = [...drafts.values()].map(({ turn, prompts }) => ({ ...turn, prompt: prompts.join('\n') }))
  turns.sort((a, b) => a.number - b.number)
  return turns.map((turn, n) => ({ ...turn, follows: turns[n - 1]?.number ?? 0 }))
}

/** A turn that was seen, as a log would tell it: what was asked, and how it ended. */
export function factsOfSeen({ number: turn, prompt, follows, outcome, started_at, ended_at }: LoggedTurn): Fact[] {
  const asked: Fact = { kind: 'turn', turn, at: started_at, prompt, by: 'person', follows }
  return outcome === 'open' ? [asked] : [asked, { kind: 'mark', turn, at: ended_at, mark: outcome }]
}

const draftOf = (number: number, at: Instant, prompts: readonly { prompt: string }[]): Draft => ({
  turn: { ...emptyTurn(number, 'person'), started_at: at, live: true },
  prompts: prompts.map(({ prompt }) => prompt),
})

function end(turn: LoggedTurn, at: Instant, outcome: TurnOutcome): void {
  turn.ended_at = at
  turn.outcome = outcome
  turn.duration_ms = Math.max(0, Date.parse(at) - Date.parse(turn.started_at ?? at))
}

interface Told {
  type: string
  at: Instant
  payload: Record<string, unknown>
}

/** By the moment that they tell of: what is sent is recorded once it has arrived. */
function inOrder(events: readonly Event[]): Told[] {
  const told = events.map(({ type, ts, payload }) => ({ type, at: isInstant(payload.at) ? payload.at : ts, payload }))
  const rank = ({ type }: Told): number => ['turn_ended', 'turn_prompted', 'turn_began'].indexOf(type)
  return told.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : rank(a) - rank(b)))
}

const isNumber = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) > 0
