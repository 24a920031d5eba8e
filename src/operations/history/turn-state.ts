import type { Home, Snapshot } from '../../home/index.js'
import { SkeinError } from '../../model/index.js'
import { type ShownTurns, shownTurn, shownTurns } from './turns.js'

/** Everything about one turn: what it said and did, and the code before and after it. */
export async function turnState(home: Home, session: string, number: number) {
  return stateOf(
    await shownTurns(home, await home.history.turns(session, { readsNew: true }), { turn: number }),
    number,
  )
}

export function stateOf(shown: ShownTurns, number: number) {
  const turn = shown.history.turns.find((one) => one.number === number)
  if (!turn)
    throw new SkeinError('bad-input', `There is no turn ${number}`, `See: skein turns ${shown.history.session.id}`)
  const { before, after } = shown.code.coded.find((one) => one.turn === number) ?? {}
  return {
    ...shownTurn(shown, turn, true),
    ...(before ? { code_before: snapshotDocument(before) } : {}),
    ...(after ? { code_after: snapshotDocument(after) } : {}),
    forks: shown.forks,
  }
}

export type TurnState = ReturnType<typeof stateOf>

/** What a snapshot records. */
const snapshotDocument = (snapshot: Snapshot) => {
  const { at, as_of, head, branch, operation, worktree_tree, index_tree, root, mode, exact, start } = snapshot
  return {
    at,
    as_of,
    root,
    ...(head === undefined ? {} : { head }),
    ...(branch === undefined ? {} : { branch }),
    ...(operation === undefined ? {} : { operation }),
    worktree_tree,
    ...(index_tree === undefined ? {} : { index_tree }),
    mode,
    is_exact: exact,
    late: snapshot.late,
    skipped: snapshot.skipped,
    skipped_count: snapshot.skipped_count,
    nested: snapshot.nested,
    ...(start === undefined ? {} : { start }),
  }
}

export type TurnSnapshot = ReturnType<typeof snapshotDocument>
