import type { Home } from '../../home/index.js'
import { TurnBranches, type TurnBranchView, turnBranchView } from '../../lifecycle/index.js'
import { isActive, type Session } from '../../model/index.js'
import { required } from '../field.js'
import { sessionRef } from '../kind.js'

export const SESSION = required(sessionRef, 'The beginning of its id, or its agent')

/** The branch on which the turns of a session are committed. */
export function turnBranchOf({ paths }: Pick<Home, 'paths'>, session: Session): TurnBranchView | undefined {
  const branch = session.agent_id === undefined ? undefined : new TurnBranches(paths.agents).of(session.agent_id)
  const isIts = branch && (isActive(session) || branch.done[session.id] !== undefined)
  return isIts ? turnBranchView(branch) : undefined
}
