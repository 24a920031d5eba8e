import type { AgentRun } from '../../lifecycle/index.js'
import type { AgentId } from '../../model/index.js'

/**
 * So many rounds in a row an agent is looked at after its screen changed. tmux counts in whole seconds, so the change may
 * have gone on after the first look; and what a program has just reported holds for two seconds against its screen.
 */
const LOOKS = 3
/** In place of the moment of the last change, where tmux does not answer. */
const UNANSWERED = -1
/** The same for every screen of an agent whose registry, a watched file, has all that the screen shows. */
const REGISTERED = 0

type Watched = Pick<AgentRun, 'agent' | 'status'>

/** Finds the agents whose screens have changed, or whose tmux server has stopped answering or answers again. */
export class ScreenMoves {
  readonly #known = new Map<AgentId, { atMs: number; looks: number }>()

  /** Who is to be looked at in this round, from when each screen was last written to. One that was not watched before has changed. */
  moved(watched: readonly Watched[], activity: ReadonlyMap<AgentId, number>): AgentId[] {
    const moments = new Map(watched.map((run) => [run.agent, momentOf(run, activity)]))
    for (const agent of this.#known.keys()) if (!moments.has(agent)) this.#known.delete(agent)
    return [...moments].flatMap(([agent, atMs]) => {
      const before = this.#known.get(agent)
      const looks = before?.atMs === atMs ? before.looks : LOOKS
      this.#known.set(agent, { atMs, looks: Math.max(0, looks - 1) })
      return looks > 0 ? [agent] : []
    })
  }
}

function momentOf({ agent, status }: Watched, activity: ReadonlyMap<AgentId, number>): number {
  const atMs = activity.get(agent)
  if (atMs === undefined) return UNANSWERED
  return status.source === 'registry' ? REGISTERED : atMs
}
