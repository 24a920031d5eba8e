import { whereaboutsOf } from '../../disk/index.js'
import type { Agent, AgentStatus } from '../../model/index.js'
import type { Terminal } from '../../terminal/index.js'
import type { ToolRunner } from '../../tools/index.js'
import { type AskedEnd, type LiveRun, liveRun } from '../agent-run.js'
import { endEvents } from '../care/run-end.js'
import { nowOf, type Parts, pause } from '../parts.js'
import { fallOf } from '../recover/fall.js'
import { activityOf } from '../status/evidence.js'
import { observe } from '../status/observe.js'
import { readScreenOf } from '../status/screen-of.js'
import { unseenReply } from '../status/turn-end.js'
import { withoutPrompt } from '../talk/pending-prompt.js'
import { askFor } from './asked-end.js'
import { endRun, endUnrecorded, refuseLeft } from './end-run.js'
import { closeEndedPane } from './ended-pane.js'
import { recordEnd } from './recorded-session.js'
import { lifeNow, lifeOfRun } from './run-life.js'

const LOOK_MS = 100
/** So often is looked for work that the screen should show. */
const DRAWN_LOOKS = 10
const DEFAULT_GRACE_MS = 8_000
/** How long its processes may take to end by themselves once they were told to. */
const TREE_GRACE_MS = 3_000

export interface Stopped {
  wasRunning: boolean
  /** How it came to its end, for its user. */
  how: string
  /** Processes that could not be ended. */
  left: number[]
}

/** Ends an agent in good order: interrupts it, asks it to leave, and only then ends its own processes. */
export async function stop(
  parts: Parts,
  agent: Agent,
  options: { graceMs?: number; isDown?: boolean; isAsleep?: boolean; because?: string } = {},
): Promise<Stopped> {
  const live = await runToEnd(parts, agent)
  if (!live) return (await alreadyEnded(parts, agent, options)) ?? leaveDown(parts, agent)
  const flags = {
    ...(options.isDown ? { is_down: true as const } : {}),
    ...(options.isAsleep ? { is_asleep: true as const } : {}),
  }
  const stopped = (why: string): string => `${options.isAsleep ? 'asleep' : 'stopped'}: ${why}`
  const reason = options.because === undefined ? {} : { reason: stopped(options.because) }
  const unask = await ask(parts, agent, live, { how: 'stopped', ...reason, ...flags })
  const asked = await askToLeave(parts, agent, live, options.graceMs ?? DEFAULT_GRACE_MS)
  const left = await endRun(parts, agent, live, TREE_GRACE_MS).catch(unask)
  const how = asked ? 'it exited gracefully' : 'it did not exit gracefully, so its processes were ended'
  await settle(
    parts,
    agent,
    live,
    {
      outcome: 'exit',
      how: 'stopped',
      reason: stopped(options.because ?? how),
      ...flags,
    },
    left,
  )
  return { wasRunning: true, how, left }
}

/** Ends an agent at once: its own processes and nothing else. */
export async function kill(parts: Parts, agent: Agent): Promise<Stopped> {
  const live = await runToEnd(parts, agent)
  if (!live) return leaveDown(parts, agent)
  const end = { how: 'killed', reason: 'killed by its user' } as const
  const unask = await ask(parts, agent, live, end)
  const left = await endRun(parts, agent, live, 0).catch(unask)
  await settle(parts, agent, live, { outcome: 'killed', ...end }, left)
  return { wasRunning: true, how: 'its processes were killed', left }
}

/**
 * What another process has put to sleep or shut down at the same time stays so, to be brought back by whatever brings that back: only who
 * wants it stopped takes that away. Nor is an agent that has just crashed kept down by who wanted it to sleep.
 */
async function alreadyEnded(
  { runs }: Parts,
  { id }: Agent,
  { isDown, isAsleep }: { isDown?: boolean; isAsleep?: boolean },
): Promise<Stopped | undefined> {
  const run = (await runs.read(id))?.run
  const left = (how: string): Stopped => ({ wasRunning: false, how, left: [] })
  if ((isDown || isAsleep) && run?.is_asleep) return left('it is asleep already')
  if ((isDown || isAsleep) && run?.is_down) return left('it was stopped by skein down already')
  return isAsleep ? left('it has ended meanwhile') : undefined
}

async function leaveDown(parts: Parts, agent: Agent): Promise<Stopped> {
  const how = await keepDown(parts, agent)
  const ended = (await parts.runs.read(agent.id))?.run
  if (ended) await closeEndedPane(parts, agent, ended)
  return { wasRunning: false, how, left: [] }
}

/** An agent that went down by itself is not to be brought back any more, neither by the watchdog nor by `skein recover`. */
async function keepDown({ runs, ...parts }: Parts, agent: Agent): Promise<string> {
  const wasAsleep = await runs.update(agent, async (current) => {
    const isDown = current?.run && (fallOf(current) || current.run.is_down || current.run.is_asleep)
    if (!current?.run || liveRun(current) || !isDown) return undefined
    await endUnrecorded(current.launching, TREE_GRACE_MS)
    const { respawn: _respawn, launching: _launching, ...rest } = current
    const { is_down: _down, is_asleep, ...run } = current.run
    const reason = current.run.end?.reason ?? current.status.reason ?? 'it ended'
    const status: AgentStatus = { status: 'stopped', since: nowOf(parts), source: 'process', reason: 'stopped' }
    return {
      next: {
        ...rest,
        ...(is_asleep ? { status } : {}),
        run: { ...run, end: { ...run.end, how: 'stopped', reason } },
      },
      result: is_asleep === true,
    }
  })
  if (wasAsleep) return 'it was asleep, and will not be woken by a prompt'
  return wasAsleep === undefined ? 'it was not running' : 'it was down, and will not be brought back'
}

/**
 * Says that this end is asked for, before anything ends: another process that sees the program go must not take it for a crash. What it
 * gives back takes that away again, for a stop that cannot be carried out.
 */
async function ask(
  { runs, ...parts }: Parts,
  agent: Agent,
  live: LiveRun,
  end: Omit<AskedEnd, 'at' | 'by'>,
): Promise<(error: unknown) => Promise<never>> {
  const mark = (asked: LiveRun['asked']): Promise<void> =>
    runs.update(agent, (current) => {
      const run = liveRun(current)
      if (!current || run?.id !== live.id) return undefined
      const { asked: _asked, ...rest } = run
      return { next: { ...current, run: { ...rest, ...(asked ? { asked } : {}) } }, result: undefined }
    })
  await mark(askFor(end, nowOf(parts)))
  return async (error) => {
    await mark(undefined)
    throw error
  }
}

/**
 * Also a run that counts as ended while its process lives: an earlier version took what it could not see for ended. Not one that has ended
 * by itself, seen by nobody yet: that is recorded as what it was, and what it has left is ended.
 */
async function runToEnd(parts: Parts, agent: Agent): Promise<LiveRun | undefined> {
  const current = await parts.runs.read(agent.id)
  const live = liveRun(current)
  if (live && lifeOfRun(live) === 'dead') {
    const [seen] = await observe(parts, new Set([agent.id]))
    if (seen?.run?.run?.id !== live.id || liveRun(seen.run)) return liveRun(seen?.run)
    refuseLeft(agent, await endRun(parts, agent, live, TREE_GRACE_MS))
    return undefined
  }
  if (live || !current?.run) return live
  const isProven = current.run.process_start !== undefined && whereaboutsOf(current.run.place) === 'here'
  return isProven && lifeOfRun(current.run) === 'alive' ? current.run : undefined
}

/** With the keys a person would use. True when the program has ended by itself. */
async function askToLeave(parts: Parts, agent: Agent, live: LiveRun, graceMs: number): Promise<boolean> {
  const [seen] = await observe(parts, new Set([agent.id]))
  const runner = parts.runners.find(({ name }) => name === seen?.run?.recipe.tool)
  const terminal = await parts.terminals.of(live.socket).catch(() => undefined)
  if (!runner || !terminal || !seen?.pane || seen.pane.isDead) return (await lifeNow(parts, agent, live)) === 'dead'
  const until = performance.now() + graceMs
  try {
    using _typing = await parts.runs.hold(agent.id, 'keys', graceMs)
    const isSaidBusy = ['running', 'blocked'].includes(activityOf(seen.verdict?.status ?? { status: 'unknown' }) ?? '')
    if (isSaidBusy) await untilBusyOnScreen(runner, terminal, live)
    await interrupt(live, runner, terminal, until - graceMs / 2)
    if ((await lifeNow(parts, agent, live)) === 'alive')
      await terminal.press(live.pane, [...runner.keys.clear, ...runner.keys.quit])
  } catch {
    // A pane that is gone, or a tmux that does not answer: then its processes are ended without it.
    return (await lifeNow(parts, agent, live)) === 'dead'
  }
  while ((await lifeNow(parts, agent, live)) === 'alive' && performance.now() < until) await pause(LOOK_MS)
  return (await lifeNow(parts, agent, live)) === 'dead'
}

/** A program says that it works a moment before its screen shows it. */
async function untilBusyOnScreen(runner: ToolRunner, terminal: Terminal, live: LiveRun): Promise<void> {
  for (let looks = 0; looks < DRAWN_LOOKS && !(await isBusyOnScreen(runner, terminal, live)); looks += 1)
    await pause(LOOK_MS)
}

/** At most twice, and only while its screen shows work or a question: at an empty prompt the same key may mean something else. */
async function interrupt(live: LiveRun, runner: ToolRunner, terminal: Terminal, until: number): Promise<void> {
  for (let presses = 0; presses < 2; presses += 1) {
    if (!(await isBusyOnScreen(runner, terminal, live))) return
    await terminal.press(live.pane, runner.keys.interrupt)
    for (let looks = 0; looks < 10; looks += 1) {
      await pause(LOOK_MS)
      if (!(await isBusyOnScreen(runner, terminal, live))) return
      if (performance.now() >= until) return
    }
  }
}

async function isBusyOnScreen(runner: ToolRunner, terminal: Terminal, live: LiveRun): Promise<boolean> {
  const reading = await readScreenOf(runner, terminal, live)
  return reading.dialog !== undefined || ['running', 'blocked'].includes(activityOf(reading) ?? '')
}

async function settle(
  parts: Parts,
  agent: Agent,
  live: LiveRun,
  end: { outcome: 'exit' | 'killed'; how: 'stopped' | 'killed'; reason: string; is_down?: true; is_asleep?: true },
  left: readonly number[],
): Promise<void> {
  // It is not over while its own process lives, whatever was done about it.
  if (left.includes(live.pid)) refuseLeft(agent, left)
  await parts.runs.update(agent, async (current) => {
    if (!current || current.run?.id !== live.id) return undefined
    // A start that was begun beside it would be taken for one to be brought back.
    refuseLeft(agent, await endUnrecorded(current.launching, TREE_GRACE_MS))
    const at = nowOf(parts)
    await recordEnd(parts, current.binding?.session, end.outcome, end.reason)
    const { how, reason } = end
    const status: AgentStatus = {
      status: end.is_asleep ? 'asleep' : 'stopped',
      since: at,
      source: 'process',
      reason: end.reason,
      ...(end.is_asleep ? unseenReply(current) : {}),
    }
    const {
      told: _told,
      sample: _sample,
      requests: _requests,
      background: _background,
      launching: _launching,
      ...kept
    } = withoutPrompt(parts, agent, current)
    // Another process has seen it end meanwhile, as it was asked for, and recorded that.
    const seen = current.run.end?.how === how ? current.run.end : undefined
    const run = {
      ...current.run,
      ended_at: current.run.ended_at ?? at,
      end: { ...seen, how, reason },
      ...(end.is_down ? { is_down: true as const } : {}),
      ...(end.is_asleep ? { is_asleep: true as const } : {}),
    }
    return {
      next: { ...kept, status, run },
      events: seen ? [] : endEvents(agent, current, live, run.end),
      result: undefined,
    }
  })
  const terminal = await parts.terminals.of(live.socket).catch(() => undefined)
  await terminal?.close(live.tmux_session).catch(() => undefined) // gone with its program
  await terminal?.endIfEmpty()
}
