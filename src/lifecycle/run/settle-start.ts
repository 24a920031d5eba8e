import { type Agent, DEFAULT_START, type Role, SkeinError } from '../../model/index.js'
import type { LiveRun } from '../agent-run.js'
import { type Parts, pause } from '../parts.js'
import { activityOf } from '../status/evidence.js'
import { hasSpoken } from '../status/has-spoken.js'
import type { Observed } from '../status/observe.js'
import { answer } from '../talk/answer.js'
import type { Begun } from './begin-run.js'
import type { StartSteps } from './start-steps.js'
import { seenAlive, untilAlive } from './until-alive.js'

const LOOK_MS = 200
/** How long a program may take to show its startup dialogs. */
const DIALOGS_MS = 8_000
/** No program asks more than this before its first prompt. */
const MOST_DIALOGS = 4
/** Rules of screens that show a question of the program about itself, whose answer the user gave with the role. */
const STARTUP_RULE = /^[^/]+\/(?:trust|bypass-warning)@/

/** What follows once the program runs: it is seen alive, asked nothing more, ready, and has survived it. Each is an option of the role. */
export async function settleStart(
  parts: Parts,
  agent: Agent,
  { run, atMs, beacon }: Begun,
  role: Role | undefined,
  steps: StartSteps,
  hasPrompt = false,
): Promise<Observed> {
  const options = role?.start ?? DEFAULT_START
  const { respawn = 'never' } = role ?? {}
  const isPrompted = hasPrompt || beacon !== undefined
  let seen = await waited(parts, agent, { run, atMs, isPrompted }, options, steps)
  const isOver = seen.isOver || seen.run?.run?.ended_at !== undefined
  if (respawn === 'never') steps.skip('auto-respawn', 'not asked for')
  else steps.done('auto-respawn', `${respawn}, by the watchdog of the daemon`)
  if (!options.accept_startup_dialogs || isOver) steps.skip('dialogs', isOver ? 'it has ended' : 'not asked for')
  else {
    seen = await steps.do(
      'dialogs',
      () => acceptDialogs(parts, agent, run, seen),
      ({ run: after }) => `status ${after?.status.status ?? 'unknown'}`,
    )
  }
  if (options.ready_delay_ms === 0 || isOver) steps.skip('ready', isOver ? 'it has ended' : 'not asked for')
  else seen = await steps.do('ready', () => untilReady(parts, agent, run, seen, options.ready_delay_ms))
  const { pid, process_start } = seen.run?.run ?? run
  if (options.track_pid)
    steps.done('track-pid', `process ${pid}${process_start === undefined ? '' : `, started ${process_start}`}`)
  else steps.skip('track-pid', 'not asked for')
  const hasWaited = steps.list.some(
    ({ name, outcome }) => outcome === 'done' && (name === 'dialogs' || name === 'ready'),
  )
  if (!options.verify_survived || isOver) steps.skip('verify', isOver ? 'it has ended' : 'not asked for')
  else if (hasWaited) seen = await steps.do('verify', () => seenAlive(parts, agent, run))
  else steps.done('verify', 'it was just seen')
  await keepSteps(parts, agent, run, steps, options.remain_on_exit)
  return seen
}

async function waited(
  parts: Parts,
  agent: Agent,
  begun: Parameters<typeof untilAlive>[2],
  { wait_for_agent: waits, wait_fatal: isFatal }: Role['start'],
  steps: StartSteps,
): Promise<Observed> {
  if (!waits) {
    steps.skip('wait', 'not asked for')
    return seenAlive(parts, agent, begun.run, { mayBeOver: true })
  }
  try {
    return await steps.do('wait', () => untilAlive(parts, agent, begun))
  } catch (error) {
    if (isFatal || !(error instanceof SkeinError) || error.code !== 'agent-died') throw error
    return seenAlive(parts, agent, begun.run, { mayBeOver: true })
  }
}

/** Only what the program asks about itself before it begins; a permission, a plan or a question of the agent stays for its user. */
export async function acceptDialogs(parts: Parts, agent: Agent, run: LiveRun, first: Observed): Promise<Observed> {
  const until = performance.now() + DIALOGS_MS
  const runner = parts.runners.find(({ name }) => name === first.run?.recipe.tool)
  let seen = first
  for (let answered = 0; ; ) {
    const { reading, verdict } = seen
    const activity = verdict && activityOf(verdict.status)
    if (activity === 'blocked' && reading?.dialog) {
      const token = verdict?.status.token
      const isStartup = reading.dialog.kind === 'startup' && STARTUP_RULE.test(reading.rule ?? '')
      if (!isStartup || token === undefined || answered === MOST_DIALOGS) return seen
      answered += 1
      await answer(parts, agent, { decision: 'allow' }, token)
    } else if (performance.now() >= until || activity === 'running') return seen
    // Some show an input line before they ask.
    else if (activity === 'quiet' && (!runner || hasSpoken(parts, seen.run, runner))) return seen
    await pause(LOOK_MS)
    seen = await seenAlive(parts, agent, run)
  }
}

/** Until its prompt is there; where that cannot be seen, the time that was asked for. */
async function untilReady(
  parts: Parts,
  agent: Agent,
  run: LiveRun,
  first: Observed,
  delayMs: number,
): Promise<Observed> {
  const until = performance.now() + delayMs
  let seen = first
  for (;;) {
    const activity = seen.verdict && activityOf(seen.verdict.status)
    if (activity === 'quiet' || activity === 'blocked' || performance.now() >= until) return seen
    await pause(Math.min(LOOK_MS, Math.max(1, until - performance.now())))
    seen = await seenAlive(parts, agent, run)
  }
}

/** For `skein why --start`. It may be lost in a power cut: it is about a start that went well. */
async function keepSteps(
  parts: Parts,
  agent: Agent,
  run: LiveRun,
  steps: StartSteps,
  keepsPane: boolean,
): Promise<void> {
  await parts.runs.update(agent, (current) => {
    if (!current?.start || current.run?.id !== run.id) return undefined
    const start = { ...current.start, steps: steps.list, ...(keepsPane ? {} : { closes_pane: true }) }
    return { next: { ...current, start }, isDurable: false, result: undefined }
  })
}
