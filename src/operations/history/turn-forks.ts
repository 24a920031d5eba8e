import type { Home, SessionTree } from '../../home/index.js'
import { type SessionId, TAKEN_BACK } from '../../model/index.js'

/** A session that was forked from another at a turn, with the forks of its own. */
export interface TurnFork {
  session: SessionId
  agent?: string
  title?: string
  /** The last turn that it shares with the session it was forked from; absent for a fork before the first. */
  turn?: number
  forks: TurnFork[]
}

/** What was forked from a session. */
export async function forksOf(home: Pick<Home, 'sessions'>, session: SessionId): Promise<TurnFork[]> {
  const found = nodeOf(await home.sessions.tree(session), session)
  return found ? forksIn(found) : []
}

function nodeOf(tree: SessionTree, session: SessionId): SessionTree | undefined {
  for (const left = [tree]; ; ) {
    const node = left.pop()
    if (!node || node.session.id === session) return node
    left.push(...node.forks, ...(node.continued_by ? [node.continued_by] : []))
  }
}

/** Without those that failed: of them only the record is left. */
const forksIn = ({ forks }: Pick<SessionTree, 'forks'>): TurnFork[] =>
  forks.filter(({ session }) => session.reason !== TAKEN_BACK).map(forkIn)

/** A fork goes on in the sessions that continue it; theirs are shown with it. */
function forkIn({ session, forks, continued_by }: SessionTree): TurnFork {
  const { id, agent, title, forked_from } = session
  return {
    session: id,
    ...(agent === undefined ? {} : { agent }),
    ...(title === undefined ? {} : { title }),
    ...(forked_from?.turn === undefined ? {} : { turn: forked_from.turn }),
    forks: [...forksIn({ forks }), ...(continued_by ? forkIn(continued_by).forks : [])],
  }
}
