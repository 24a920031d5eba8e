import type { AgentId } from '../model/index.js'

/**
 * So many rounds in a row an agent is looked at after its screen changed. tmux counts in whole seconds, so the change may
 * have gone on after the first look; and what a program has just reported holds for two seconds against its screen.
 */
const LOOKS = 3

/** Finds the agents whose screens have changed, from when each was last written to. Pass only those that are to be watched. */
export class ScreenMoves {
  readonly #known = new Map<AgentId, { atMs: number; looks: number }>()

  /** Who is to be looked at in this round. A screen that is seen for the first time counts as changed. */
  moved(activity: ReadonlyMap<AgentId, number>): AgentId[] {
    for (const agent of this.#known.keys()) if (!activity.has(agent)) this.#known.delete(agent)
    return [...activity].flatMap(([agent, atMs]) => {
      const before = this.#known.get(agent)
      const looks = before?.atMs === atMs ? before.looks : LOOKS
      this.#known.set(agent, { atMs, looks: Math.max(0, looks - 1) })
      return looks > 0 ? [agent] : []
    })
  }
}
