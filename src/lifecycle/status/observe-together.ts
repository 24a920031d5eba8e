import type { AgentId } from '../../model/index.js'
import type { Parts } from '../parts.js'
import { type Observed, observe } from './observe.js'

interface Round {
  ids: Set<AgentId>
  seen: Promise<readonly Observed[]>
}

const waiting = new WeakMap<Parts['runs'], Round>()
const looking = new WeakMap<Parts['runs'], Promise<unknown>>()

/**
 * Looks at one agent. Those who ask while a look is under way share the next one: fifty agents that are started at once are looked at
 * together, with one question to tmux for all. Everyone gets a look that began after the question.
 */
export async function observeTogether(parts: Parts, id: AgentId): Promise<Observed | undefined> {
  const key = parts.runs
  let round = waiting.get(key)
  if (!round) {
    const ids = new Set<AgentId>()
    const before = looking.get(key) ?? Promise.resolve()
    const seen = before.then(() => {
      waiting.delete(key)
      return observe(parts, ids)
    })
    round = { ids, seen }
    waiting.set(key, round)
    looking.set(
      key,
      seen.catch(() => undefined),
    )
  }
  round.ids.add(id)
  // What went wrong may be the trouble of another agent.
  const seen = await round.seen.catch(() => observe(parts, new Set([id])))
  return seen.find(({ agent }) => agent.id === id)
}
