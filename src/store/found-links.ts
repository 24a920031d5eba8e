import { type Instant, isActive, type Link, OUTCOME_OF_LINK, type Session, type SessionId } from '../model/index.js'
import type { Succession } from '../tools/index.js'
import type { ChangeState, Draft } from './write-batch.js'

/** Where a found session stands behind another. */
export interface Continuation {
  parent_id: SessionId
  link: Link
  chain_id: SessionId
}

/** What the order of found sessions depends on. */
interface Found {
  readonly id: SessionId
  readonly news: { readonly started_at?: Instant | undefined }
}

/** Puts found sessions behind those they took the place of, whichever of the two was found first. */
export class FoundLinks {
  readonly #before: ReadonlyMap<SessionId, Succession>
  readonly #after: ReadonlyMap<SessionId, SessionId>
  /** As they are after what was decided so far. */
  readonly #chains = new Map<SessionId, SessionId>()
  readonly #continued = new Set<SessionId>()

  constructor(
    private readonly state: Pick<ChangeState, 'session'>,
    successions: readonly Succession[],
  ) {
    this.#before = new Map(successions.map((one) => [one.successor, one]))
    this.#after = new Map(successions.map((one) => [one.predecessor, one.successor]))
  }

  /** Predecessors first, otherwise as they began. A session may be found in several logs. */
  inOrder<One extends Found>(found: readonly One[]): One[] {
    const asBegun = [...found].sort((a, b) => ((a.news.started_at ?? '') < (b.news.started_at ?? '') ? -1 : 1))
    const left = new Map<SessionId, One[]>()
    for (const one of asBegun) left.set(one.id, [...(left.get(one.id) ?? []), one])
    return asBegun.flatMap(({ id }) => {
      const line: One[] = []
      for (let at: SessionId | undefined = id; at && left.has(at); at = this.#before.get(at)?.predecessor) {
        line.unshift(...(left.get(at) ?? []))
        left.delete(at)
      }
      return line
    })
  }

  successorOf(id: SessionId): SessionId | undefined {
    return this.#after.get(id)
  }

  placeOf(id: SessionId): Continuation | undefined {
    const succession = this.#before.get(id)
    if (!succession) return undefined
    const { predecessor: parent_id, link } = succession
    const predecessor = this.state.session(parent_id)
    const chain_id = this.#chains.get(parent_id) ?? predecessor?.chain_id
    if (chain_id === undefined || predecessor?.child_id || this.#continued.has(parent_id)) return undefined
    return { parent_id, link, chain_id }
  }

  /** A session that nobody knew. */
  begin(id: SessionId, place: Continuation | undefined): void {
    this.#chains.set(id, place?.chain_id ?? id)
    if (place) this.#continued.add(place.parent_id)
  }

  /** A session that was known before the one it follows: it and all that go on from it change the chain. */
  join(session: Session, { parent_id, link, chain_id }: Continuation): Draft[] {
    const { id, source, forked_from, started_at } = session
    const isLoose = source === 'log' && session.parent_id === undefined && forked_from === undefined
    const followers = this.#followersOf(session)
    if (!isLoose || followers.includes(parent_id)) return []
    this.#continued.add(parent_id)
    for (const one of [id, ...followers]) this.#chains.set(one, chain_id)
    const predecessor = this.state.session(parent_id)
    const end = { outcome: OUTCOME_OF_LINK[link], ended_at: started_at }
    return [
      audited('session_update', id, { parent_id, link, chain_id }),
      // Ended already, it stays as it is.
      ...(!predecessor || isActive(predecessor) ? [audited('session_end', parent_id, end)] : []),
      audited('session_update', parent_id, { child_id: id }),
      ...followers.map((one) => audited('session_update', one, { chain_id })),
    ]
  }

  #followersOf(session: Session): SessionId[] {
    const followers: SessionId[] = []
    for (let at = session.child_id; at && at !== session.id && !followers.includes(at); ) {
      followers.push(at)
      at = this.state.session(at)?.child_id
    }
    return followers
  }
}

const audited = (type: string, session: SessionId, payload: Draft['payload']): Draft => ({
  type,
  session,
  visibility: 'audit',
  payload,
})
