import { type Agent, isHooked, SkeinError } from '../../model/index.js'
import { liveRun } from '../agent-run.js'
import { type Parts, runnerOf } from '../parts.js'
import { beaconFor, senderFor } from '../run/beacon-for.js'
import { observe } from '../status/observe.js'
import { keepPrompt } from '../talk/pending-prompt.js'
import { hasUnfinishedSling, recordSling, type SlingMarker, setMarker } from './marker.js'
import { Git, undoWorktree } from './worktree.js'

/** Every sling whose process was killed. */
export async function settleCutSlings(parts: Parts): Promise<void> {
  for (const { agent: id } of (await parts.runs.all()).filter(hasUnfinishedSling)) {
    const agent = (await parts.home.roster.agents()).find((one) => one.id === id)
    if (agent) await settleCutSling(parts, agent)
  }
}

/**
 * A sling whose process was killed: with its program running it is finished, else it is undone, so that the unit can be given to another.
 * Does nothing while that process lives.
 */
export async function settleCutSling(parts: Parts, agent: Agent): Promise<'finished' | 'undone' | undefined> {
  const held = await parts.runs.holdIfFree(agent.id, 'sling')
  if (!held) return undefined
  using _slinging = held
  await observe(parts, new Set([agent.id])) // finds a pane that was made and not recorded
  const run = await parts.runs.read(agent.id)
  const marker = run?.sling
  if (!run || !marker) return undefined
  const live = liveRun(run)
  if (live) {
    const isPrompted = (run.prompted_at ?? '') >= live.started_at
    if (!isPrompted && !run.pending_prompt) await keepPrompt(parts, agent, await assignment(parts, agent))
    await recordSling(parts, agent, marker)
    await setMarker(parts, agent, undefined)
    return 'finished'
  }
  await unhook(parts, agent, marker)
  await setMarker(parts, agent, undefined)
  if (marker.is_new && run.run === undefined && run.launching === undefined) {
    await parts.home.roster.remove(agent.id)
    parts.runs.forget(agent.id)
  }
  if (marker.worktree) await undoWorktree(new Git(parts.environment.env), marker.worktree)
  return 'undone'
}

/** What tells an agent to begin with the unit on its hook. */
export async function assignment(parts: Parts, agent: Agent): Promise<string> {
  const roles = await parts.home.programs.roles()
  const run = await parts.runs.read(agent.id)
  const isPrimed = run === undefined || runnerOf(parts, run.recipe.tool).can.tells
  const sender = senderFor(parts, roles, parts.environment.env.SKEIN_AGENT)
  return beaconFor(parts, agent, { roles, isPrimed, topic: 'assigned', sender })
}

/** Only from this agent's hook: it may have been given to another since. */
async function unhook({ home: { work } }: Parts, { id, address }: Agent, marker: SlingMarker): Promise<void> {
  try {
    const unit = await work.show(marker.work)
    if (isHooked(unit) && (unit.agent_id ?? id) === id && unit.agent === address) await work.unhook(unit.id)
  } catch (error) {
    if (!(error instanceof SkeinError && error.code === 'work-not-found')) throw error
  }
}
