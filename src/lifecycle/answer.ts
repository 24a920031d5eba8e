import { type Agent, type AgentStatus, SkeinError } from '../model/index.js'
import type { Terminal } from '../terminal/index.js'
import type { Dialog, DialogOption, ToolRunner } from '../tools/index.js'
import { type AgentRun, type LiveRun, liveRun } from './agent-run.js'
import { activityOf } from './evidence.js'
import { secretOf } from './launch.js'
import { observe } from './observe.js'
import { type Parts, pause, runnerOf } from './parts.js'
import { notRunning, readScreenOf } from './send.js'

export type Decision = 'allow' | 'allow-always' | 'deny'
export type AnswerWith = { decision: Decision } | { choose: string }

const LOOK_MS = 150
/** After a question appears, programs drop keys for a moment; then each step is checked again. */
const STEP_MS = 2_000
/** So long a dialog may take to be drawn. */
const DRAWN_MS = 4_000
const CONFIRM_MS = 5_000
/** Key presses in one dialog: it has a handful of options. */
const MAX_STEPS = 24

export interface Answered {
  by: 'protocol' | 'keys'
  label?: string
  how: string
}

/**
 * Answers what an agent asks. By the tool's own protocol where it has one; else in its dialog, by moving to the option with
 * the wanted meaning and pressing Enter once the screen shows that option as the chosen one. Never by number, never by a
 * bare Enter, and never an option that stops the tool from asking.
 */
export async function answer(parts: Parts, agent: Agent, wanted: AnswerWith, token?: string): Promise<Answered> {
  using _typing = await parts.runs.hold(agent.id, 'keys')
  const [seen] = await observe(parts, new Set([agent.id]))
  const live = liveRun(seen?.run)
  const status = seen?.verdict?.status
  if (!seen?.run || !live || !status) throw notRunning(agent)
  refuseStale(agent, status, token)
  const runner = runnerOf(parts, seen.run.recipe.tool)
  const answered =
    (await byProtocol(parts, agent, seen.run, live, runner, wanted)) ??
    (await byKeys(parts, agent, live, runner, wanted, status.token))
  await parts.runs.update(agent, (current) => {
    if (!current) return undefined
    const { requests: _requests, ...next } = current
    const said = 'decision' in wanted ? { decision: wanted.decision } : { choose: wanted.choose }
    const payload = { agent_id: agent.id, ...answered, ...said, waiting_for: status.waiting_for, token: status.token }
    return { next, events: [{ type: 'agent_answered', payload }], result: undefined }
  })
  return answered
}

function refuseStale(agent: Agent, status: AgentStatus, token: string | undefined): void {
  const isAsking = activityOf(status) === 'blocked'
  if (!isAsking && token === undefined && status.status !== 'unknown' && status.status !== 'starting') {
    const next = `See what it does: skein why ${agent.address}`
    throw new SkeinError('nothing-asked', `${agent.address} asks nothing: it is ${status.status}`, next)
  }
  if (token === undefined || token === status.token) return
  throw new SkeinError(
    'stale-answer',
    `This answer was for another question of ${agent.address}; it was not given`,
    isAsking ? `Look at what it asks now: skein why ${agent.address}` : `It is ${status.status} now`,
  )
}

async function byProtocol(
  parts: Parts,
  agent: Agent,
  run: AgentRun,
  live: LiveRun,
  runner: ToolRunner,
  wanted: AnswerWith,
): Promise<Answered | undefined> {
  const request = run.requests?.at(-1)
  if (!runner.answer || !request || !run.binding || !('decision' in wanted)) return undefined
  const { receipt } = await runner.answer({
    request,
    decision: wanted.decision,
    launch: { port: live.port, secret: secretOf(parts, agent, live) },
    session: run.binding.session,
    signal: AbortSignal.timeout(CONFIRM_MS * 2),
  })
  return { by: 'protocol', how: receipt }
}

async function byKeys(
  parts: Parts,
  agent: Agent,
  live: LiveRun,
  runner: ToolRunner,
  wanted: AnswerWith,
  token: string | undefined,
): Promise<Answered> {
  const terminal = await parts.terminals.of(live.socket)
  const dialog = await readableDialog(runner, terminal, live)
  if (!dialog) {
    const next = `Answer it yourself: skein attach ${agent.address} ; skein doctor --record ${agent.address} helps us read this screen`
    throw new SkeinError('not-answered', `The question of ${agent.address} cannot be read from its screen`, next)
  }
  const option = choose(agent, dialog, wanted)
  await moveTo(agent, runner, terminal, live, dialog, option)
  await terminal.press(live.pane, ['Enter'])
  const until = performance.now() + CONFIRM_MS
  let pressAgainAt = performance.now() + STEP_MS
  for (let goneFor = 0; ; ) {
    const now = await dialogOf(runner, terminal, live).catch(() => undefined)
    goneFor = now && isSameDialog(now, dialog) ? 0 : goneFor + 1
    if (goneFor >= 2) {
      return {
        by: 'keys',
        label: option.label,
        how: `chose ${JSON.stringify(option.label)}; the question is gone from its screen`,
      }
    }
    if (performance.now() >= until) break
    if (performance.now() >= pressAgainAt && (await isSameWait(parts, agent, token, now, dialog, option))) {
      await terminal.press(live.pane, ['Enter']) // it was dropped: programs take no keys just after a question appears
      pressAgainAt += STEP_MS
    }
    await pause(LOOK_MS)
  }
  const next = `Look at it: skein attach ${agent.address}`
  throw new SkeinError(
    'not-answered',
    `${JSON.stringify(option.label)} was chosen, but the question is still there`,
    next,
  )
}

/** A program says that it asks before its dialog is drawn: until it has been read twice the same. */
async function readableDialog(runner: ToolRunner, terminal: Terminal, live: LiveRun): Promise<Dialog | undefined> {
  const until = performance.now() + DRAWN_MS
  let before: Dialog | undefined
  for (;;) {
    const now = await dialogOf(runner, terminal, live)
    if (now && before && isSameDialog(now, before)) return now
    if (performance.now() >= until) return undefined
    before = now
    await pause(LOOK_MS / 3)
  }
}

/** The very question, with the wanted option still chosen: not the next one that looks like it. */
async function isSameWait(
  parts: Parts,
  agent: Agent,
  token: string | undefined,
  now: Dialog | undefined,
  dialog: Dialog,
  option: DialogOption,
): Promise<boolean> {
  const chosen = now?.options.find(({ isSelected }) => isSelected)?.label
  if (!now || !isSameDialog(now, dialog) || chosen !== option.label) return false
  const [seen] = await observe(parts, new Set([agent.id]))
  return seen?.verdict?.status.token === token
}

async function dialogOf(runner: ToolRunner, terminal: Terminal, live: LiveRun): Promise<Dialog | undefined> {
  return (await readScreenOf(runner, terminal, live)).dialog
}

/** The one option that means it. An `auto` option is the user's own to choose, on the screen. */
function choose(agent: Agent, { options }: Dialog, wanted: AnswerWith): DialogOption {
  const offered = options.map(({ label }) => JSON.stringify(label)).join(', ')
  const fits =
    'decision' in wanted
      ? options.filter(({ meaning }) => meaning === wanted.decision)
      : labelled(options, wanted.choose)
  const [only] = fits
  if (only && fits.length === 1 && only.meaning !== 'auto') return only
  const what = 'decision' in wanted ? wanted.decision : JSON.stringify(wanted.choose)
  const why =
    fits.length === 1
      ? `${what} would stop it from asking at all, which is chosen on its screen only`
      : `${fits.length === 0 ? 'No option' : 'More than one option'} of ${agent.address} fits ${what}`
  throw new SkeinError(
    'not-answered',
    why,
    `It offers ${offered}. Choose by label: skein answer ${agent.address} <label>`,
  )
}

function labelled(options: readonly DialogOption[], label: string): DialogOption[] {
  const wanted = label.trim().toLowerCase()
  const exact = options.filter((option) => option.label.trim().toLowerCase() === wanted)
  if (exact.length > 0) return exact
  const begins = options.filter((option) => option.label.trim().toLowerCase().startsWith(wanted))
  return wanted === '' ? [] : begins
}

/** One step at a time, looking after each: what is chosen is what the screen shows as chosen. */
async function moveTo(
  agent: Agent,
  runner: ToolRunner,
  terminal: Terminal,
  live: LiveRun,
  dialog: Dialog,
  wanted: DialogOption,
): Promise<void> {
  let at = dialog
  for (let step = 0; step < MAX_STEPS; step += 1) {
    const from = at.options.findIndex(({ isSelected }) => isSelected)
    const to = at.options.findIndex(({ label }) => label === wanted.label)
    if (to < 0 || !isSameDialog(at, dialog)) throw changed(agent)
    if (from === to) return
    if (from < 0) throw unseen(agent)
    const isForward = to > from
    const key = at.axis === 'vertical' ? (isForward ? 'Down' : 'Up') : isForward ? 'Right' : 'Left'
    await terminal.press(live.pane, [key])
    at = await untilMoved(agent, runner, terminal, live, at)
  }
  throw changed(agent)
}

/** Until the screen shows another option as chosen. In between it may be half drawn. */
async function untilMoved(
  agent: Agent,
  runner: ToolRunner,
  terminal: Terminal,
  live: LiveRun,
  before: Dialog,
): Promise<Dialog> {
  const selected = ({ options }: Dialog): string | undefined => options.find(({ isSelected }) => isSelected)?.label
  const until = performance.now() + STEP_MS
  for (;;) {
    const now = await dialogOf(runner, terminal, live)
    const isSame = now !== undefined && isSameDialog(now, before)
    if (isSame && selected(now) !== selected(before)) return now
    if (performance.now() >= until) {
      if (isSame) return now // the key was dropped: it is pressed again
      throw changed(agent)
    }
    await pause(LOOK_MS / 3)
  }
}

function isSameDialog(a: Dialog, b: Dialog): boolean {
  const labels = ({ question, options }: Dialog): string =>
    JSON.stringify([question, options.map(({ label }) => label)])
  return labels(a) === labels(b)
}

/** Some dialogs show by colour alone which option is chosen; then a key would be a guess. */
const unseen = (agent: Agent): SkeinError =>
  new SkeinError(
    'not-answered',
    `The screen of ${agent.address} does not tell which option is chosen; nothing was pressed`,
    `Answer it yourself: skein attach ${agent.address}`,
  )

const changed = (agent: Agent): SkeinError =>
  new SkeinError(
    'not-answered',
    `The question of ${agent.address} changed while it was being answered; nothing was chosen`,
    `Look at what it asks now: skein why ${agent.address}`,
  )
