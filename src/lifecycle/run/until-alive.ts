import { type Agent, SkeinError } from '../../model/index.js'
import { isEndedNote } from '../../terminal/index.js'
import type { LiveRun } from '../agent-run.js'
import { type Parts, pause } from '../parts.js'
import { START_GRACE_MS } from '../status/decide-status.js'
import { activityOf } from '../status/evidence.js'
import { showsFirstPicture } from '../status/first-picture.js'
import type { Observed } from '../status/observe.js'
import { observeTogether } from '../status/observe-together.js'
import { keptText } from '../talk/kept-text.js'
import { programMissing } from './launch.js'

/** How often a program that starts is looked at. */
const LOOK_MS = 60
/** A program that lives this long has not failed to start. */
const PROVEN_MS = 600
/** So long it must live on once its prompt was seen: how long it took to draw that depends on the machine. */
const OUTLIVES_MS = 300
/** What a shell says of a program that it cannot find. */
export const NOT_FOUND = 'exited 127'
/** Lines of a program that ended at once, for its user to see why. */
const LAST_LINES = 12

/**
 * "Started" is only said of a program that has been seen alive: it tells so itself, its screen does, or it lives through the grace.
 * `isPrompted`: who gives it its first prompt waits for what it asks before that.
 */
export async function untilAlive(
  parts: Parts,
  agent: Agent,
  { run, atMs: beganMs, isPrompted }: { run: LiveRun; atMs: number; isPrompted: boolean },
): Promise<Observed> {
  let upMs: number | undefined
  for (;;) {
    const lookedMs = performance.now()
    const seen = await seenAlive(parts, agent, run)
    const activity = seen.verdict && activityOf(seen.verdict.status)
    if (seen.run?.run?.id !== run.id) return seen // another process has started it anew meanwhile
    // What is drawn on a screen, a program may draw just before it fails: it has to outlive that.
    const livedMs = performance.now() - beganMs
    const isUp = activity && (activity !== 'starting' || (isPrompted && showsFirstPicture(seen)))
    upMs = isUp ? (upMs ?? performance.now()) : undefined
    const provenMs = Math.max(beganMs + PROVEN_MS, (upMs ?? lookedMs) + OUTLIVES_MS)
    const isProven = seen.verdict?.decided?.source !== 'pane' || lookedMs >= provenMs
    if (isUp && isProven) return seen
    if (livedMs >= START_GRACE_MS) return seen
    // Of one that has drawn its prompt only its end would be news, which the last look shows as well.
    await pause(isUp ? Math.max(LOOK_MS, provenMs - performance.now()) : LOOK_MS)
  }
}

/** How the agent is now. An error when its program has ended. */
export async function seenAlive(
  parts: Parts,
  agent: Agent,
  run: LiveRun,
  { mayBeOver = false } = {},
): Promise<Observed> {
  const seen = await observeTogether(parts, agent.id)
  if (!seen) throw new Error(`agent ${agent.id} vanished while it was started`)
  if (mayBeOver || seen.run?.run?.id !== run.id) return seen
  // Also when another process was the first to see it end.
  if (seen.isOver || seen.run.run.ended_at !== undefined) throw await diedAtOnce(parts, agent, seen)
  return seen
}

async function diedAtOnce(parts: Parts, agent: Agent, { run, verdict }: Observed): Promise<SkeinError> {
  const live = run?.run
  const terminal = live && (await parts.terminals.of(live.socket).catch(() => undefined))
  const screen = live && (await terminal?.capture(live.pane, { history: LAST_LINES }).catch(() => undefined))
  // tmux pushes what stood on the screen up by a line to say that the pane is dead.
  const lines = (screen ?? '').split('\n').filter((line) => line.trim() !== '' && !isEndedNote(line))
  const shown = await keptText(parts, lines.slice(-LAST_LINES).join('\n'))
  const details = shown === '' ? [] : shown.split('\n')
  const why = verdict?.status.reason ?? 'the reason is unknown'
  if (why === NOT_FOUND && run) return programMissing(agent.address, run.recipe.tool)
  const said = details.length > 0 ? '. Its last lines are below' : ', without any output'
  const next = `Try the command by hand in ${run?.recipe.cwd}, then: skein restart ${agent.address}`
  return new SkeinError('agent-died', `${agent.address} did not start: ${why}${said}`, next, { details })
}
