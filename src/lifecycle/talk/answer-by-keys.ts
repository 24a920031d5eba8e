import { type Agent, type Ask, type Instant, type OptionMeaning, SkeinError } from '../../model/index.js'
import type { Terminal } from '../../terminal/index.js'
import type { Dialog, DialogOption } from '../../tools/index.js'
import { nowOf, type Parts, pause } from '../parts.js'
import { activityOf } from '../status/evidence.js'
import { takeIn } from '../status/intake.js'
import { observe } from '../status/observe.js'
import { readScreenOf } from '../status/screen-of.js'
import type { AnswerWith, Asker, Settled } from './answer.js'
import { asksOf, dialogPrint, isAskedBy, isShownWhole } from './asks.js'
import { isSameRequest, type PendingRequest } from './pending-request.js'

const LOOK_MS = 150
/** After a question appears, programs drop keys for a moment; then each step is checked again. */
const STEP_MS = 2_000
/** So long a dialog may take to be drawn. */
const DRAWN_MS = 4_000
const CONFIRM_MS = 5_000
/** A program that starts itself again to read the settings of a folder shows its question until then. */
const STARTUP_CONFIRM_MS = 20_000
/** Key presses in one dialog: it has a handful of options. */
const MAX_STEPS = 24

/**
 * Answers in the dialog on the screen. It must be the one that asks for what is answered: before every key the screen is read,
 * and a dialog that shows anything else gets none.
 */
export async function answerByKeys(
  parts: Parts,
  asker: Asker,
  wanted: AnswerWith,
  token: string | undefined,
): Promise<Settled> {
  const terminal = await parts.terminals.of(asker.live.socket)
  const keys = new DialogKeys(parts, asker, terminal)
  const dialog = await keys.readable()
  if (!dialog) throw unreadable(asker.agent)
  if (dialog.kind === 'permission' && (await keys.isNewlyAsked())) throw changed(asker.agent)
  const asked = askedBy(parts, asker, dialog, token)
  const option = choose(asker.agent, dialog, wanted)
  if (!option.keys) await keys.moveTo(dialog, option)
  await keys.choose(dialog, option, asked)
  const how = await keys.untilGone(dialog, option, asked)
  const { ask, request } = asked
  return {
    answered: { by: 'keys', label: option.label, how },
    ...(ask ? { ask } : {}),
    ...(request ? { request } : {}),
  }
}

interface AskedBy {
  ask?: Ask
  request?: PendingRequest
  /** The dialog shows the very thing that was asked for. */
  isVouched?: boolean
}

/** What this dialog asks for. Refused when that is not what the token names, or when the dialog cannot tell. */
function askedBy(parts: Parts, asker: Asker, dialog: Dialog, token: string | undefined): AskedBy {
  const { agent, run, live, status } = asker
  if (activityOf(status) !== 'blocked') {
    if (dialog.isCut && dialog.kind === 'permission') throw cut(agent)
    return {} // nothing is known of it but that its screen shows it
  }
  const requests = run.requests ?? []
  const asking = { agent: agent.id, run: live.id, now: nowOf(parts), status, requests, dialog }
  const { asks, inFront, shown } = asksOf(asking)
  if (!inFront || (token !== undefined && inFront.token !== token)) throw changed(agent, 'stale-answer')
  const isVouched = shown !== undefined && isAskedBy(shown, dialog)
  // Of a plan or a question all that is on the screen counts, and no part of it is run by itself.
  if (!isVouched && dialog.isCut && dialog.kind === 'permission') throw cut(agent)
  // The program told of another request: which one is meant without a token, nobody knows.
  if (!isVouched && token === undefined && asks.length > 1) throw other(agent, inFront.token)
  return { ask: inFront, ...(shown ? { request: shown } : {}), isVouched }
}

/** One dialog of one agent, and the keys that go into it. */
class DialogKeys {
  constructor(
    private readonly parts: Parts,
    private readonly asker: Asker,
    private readonly terminal: Terminal,
  ) {}

  /** A program says that it asks before its dialog is drawn: until it has been read twice the same. */
  async readable(): Promise<Dialog | undefined> {
    const until = performance.now() + DRAWN_MS
    let before: Dialog | undefined
    for (;;) {
      const now = await this.#read()
      if (now && before && isSameDialog(now, before)) return now
      if (performance.now() >= until) return undefined
      before = now
      await pause(LOOK_MS / 3)
    }
  }

  /** Whether it did not ask when it was looked at, and does now: nobody has seen for what. */
  async isNewlyAsked(): Promise<boolean> {
    const { agent, status } = this.asker
    if (activityOf(status) === 'blocked') return false
    const [seen] = await observe(this.parts, new Set([agent.id]))
    return seen?.verdict !== undefined && activityOf(seen.verdict.status) === 'blocked'
  }

  /** One step at a time, looking after each: what is chosen is what the screen shows as chosen. */
  async moveTo(dialog: Dialog, wanted: DialogOption): Promise<void> {
    const { agent, live } = this.asker
    let at = dialog
    for (let step = 0; step < MAX_STEPS; step += 1) {
      const from = at.options.findIndex(({ isSelected }) => isSelected)
      const to = at.options.findIndex(({ label }) => label === wanted.label)
      if (to < 0 || !isSameDialog(at, dialog)) throw changed(agent)
      if (from === to) return
      if (from < 0) throw unseen(agent)
      const isForward = to > from
      const key = at.axis === 'vertical' ? (isForward ? 'Down' : 'Up') : isForward ? 'Right' : 'Left'
      await this.terminal.press(live.pane, [key])
      at = await this.#untilMoved(at)
    }
    throw changed(agent)
  }

  async choose(dialog: Dialog, option: DialogOption, asked: AskedBy): Promise<void> {
    if (!(await this.#press(dialog, option, asked))) throw changed(this.asker.agent)
  }

  /** Presses Enter on what the screen shows at this moment: the wanted option of this very dialog. Some have keys of their own. */
  async #press(dialog: Dialog, option: DialogOption, asked: AskedBy): Promise<boolean> {
    const now = await this.#read()
    if (!now || !isReadyFor(now, dialog, option)) return false
    // After the screen was read: what a dialog is for is reported before it is drawn.
    if (await this.#hasMovedOn(dialog, asked)) return false
    await this.terminal.press(this.asker.live.pane, option.keys ?? ['Enter'])
    return true
  }

  /** Says how it is known that the answer was taken. A dropped Enter is pressed again only where nothing can have come in between. */
  async untilGone(dialog: Dialog, option: DialogOption, asked: AskedBy): Promise<string> {
    const pressed = nowOf(this.parts)
    const until = performance.now() + (dialog.kind === 'startup' ? STARTUP_CONFIRM_MS : CONFIRM_MS)
    let pressAgainAt = performance.now() + STEP_MS
    for (let goneFor = 0; ; ) {
      const now = await this.#read().catch(() => undefined)
      goneFor = now && isSameDialog(now, dialog) ? 0 : goneFor + 1
      if (goneFor >= 2) return `chose ${JSON.stringify(option.label)}; the question is gone from its screen`
      if (performance.now() >= until) break
      if (goneFor === 0 && performance.now() >= pressAgainAt) {
        pressAgainAt += STEP_MS
        if (await this.#isStillTheSame(pressed, asked)) await this.#press(dialog, option, asked)
      }
      await pause(LOOK_MS)
    }
    throw new SkeinError(
      'not-answered',
      `${JSON.stringify(option.label)} was chosen, but the question is still there`,
      `Look at it: skein attach ${this.asker.agent.address}`,
    )
  }

  /**
   * Whether the program has reported since it was looked at that it goes on or asks something else. Its next dialog may look the same. A report
   * of the very thing that this dialog shows was late, if nothing else is known that it shows.
   */
  async #hasMovedOn(dialog: Dialog, { request, isVouched = false }: AskedBy): Promise<boolean> {
    const { agent, run } = this.asker
    await takeIn(this.parts, new Map((await this.parts.home.roster.agents()).map((one) => [one.id, one])))
    const { requests: asked = [], told: said = [] } = (await this.parts.runs.read(agent.id)) ?? {}
    const { requests = [], told = [] } = run
    const isIn = (some: readonly PendingRequest[], one: PendingRequest): boolean =>
      some.some((other) => isSameRequest(other, one))
    const added = asked.filter((one) => !isIn(requests, one))
    if (isVouched && request) {
      const isOther = added.some((one) => one.id !== request.id && isAskedBy(one, dialog))
      if (isOther || !isIn(asked, request)) return true
      if (isShownWhole(request, dialog)) return false
    }
    const isSame = requests.every((one) => isIn(asked, one)) && added.every((one) => isShownWhole(one, dialog))
    const lastAt = told.at(-1)?.at ?? ''
    return !isSame || said.some((one) => one.at > lastAt && activityOf(one) !== 'blocked')
  }

  /**
   * Whether what is on the screen can only be the question that Enter was pressed for. The next one may look the same: so it is
   * asked of a program that would have told of it, and has told nothing since.
   */
  async #isStillTheSame(pressed: Instant, { ask, request }: AskedBy): Promise<boolean> {
    const { agent, runner, status } = this.asker
    const wouldTell = runner.can.tells && (request !== undefined || status.source === 'registry')
    if (!ask || !wouldTell) return false
    const [seen] = await observe(this.parts, new Set([agent.id]))
    const { told = [], requests = [] } = seen?.run ?? {}
    const isTold = told.some(({ at }) => at >= pressed) || requests.some(({ at = pressed }) => at >= pressed)
    const twins = requests.filter(({ id }) => id === request?.id).length
    return !isTold && twins <= 1 && seen?.verdict?.status.token === ask.token
  }

  /** Until the screen shows another option as chosen. In between it may be half drawn. */
  async #untilMoved(before: Dialog): Promise<Dialog> {
    const selected = ({ options }: Dialog): string | undefined => options.find(({ isSelected }) => isSelected)?.label
    const until = performance.now() + STEP_MS
    for (;;) {
      const now = await this.#read()
      const isSame = now !== undefined && isSameDialog(now, before)
      if (isSame && selected(now) !== selected(before)) return now
      if (performance.now() >= until) {
        if (isSame) return now // the key was dropped: it is pressed again
        throw changed(this.asker.agent)
      }
      await pause(LOOK_MS / 3)
    }
  }

  async #read(): Promise<Dialog | undefined> {
    return (await readScreenOf(this.asker.runner, this.terminal, this.asker.live)).dialog
  }
}

const isSameDialog = (a: Dialog, b: Dialog): boolean => dialogPrint(a) === dialogPrint(b)

const isReadyFor = (now: Dialog, dialog: Dialog, { label, keys }: DialogOption): boolean =>
  isSameDialog(now, dialog) && (keys !== undefined || now.options.find(({ isSelected }) => isSelected)?.label === label)

/** The one option that means it. An `auto` option is the user's own to choose, on the screen. */
function choose(agent: Agent, { options }: Dialog, wanted: AnswerWith): DialogOption {
  const offered = options.map(({ label }) => JSON.stringify(label)).join(', ')
  const fits =
    'decision' in wanted
      ? options.filter(({ meaning }) => meaning === (wanted.decision satisfies OptionMeaning))
      : labelled(options, wanted.choose)
  const [only] = fits
  if (only && fits.length === 1 && only.meaning !== 'auto') return only
  const what = 'decision' in wanted ? wanted.decision : JSON.stringify(wanted.choose)
  const why =
    fits.length === 1
      ? `${what} would stop it from asking at all; choose that on its own screen`
      : `${fits.length === 0 ? 'No option' : 'More than one option'} of ${agent.address} matches ${what}`
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

const unreadable = (agent: Agent): SkeinError =>
  new SkeinError(
    'not-answered',
    `The question of ${agent.address} cannot be read from its screen`,
    `Answer it yourself: skein attach ${agent.address} , or record the screen for a report: skein doctor --record ${agent.address}`,
  )

/** Some dialogs show by colour alone which option is chosen; then a key would be a guess. */
const unseen = (agent: Agent): SkeinError =>
  new SkeinError(
    'not-answered',
    `The screen of ${agent.address} does not show which option is selected; no key was pressed`,
    `Answer it yourself: skein attach ${agent.address}`,
  )

const changed = (agent: Agent, code: 'stale-answer' | 'not-answered' = 'not-answered'): SkeinError =>
  new SkeinError(
    code,
    `The question of ${agent.address} changed while it was being answered; nothing was chosen`,
    `Look at what it asks now: skein why ${agent.address}`,
  )

const cut = (agent: Agent): SkeinError =>
  new SkeinError(
    'not-answered',
    `The dialog of ${agent.address} does not show the whole request; no key was pressed`,
    `Read and answer it yourself: skein attach ${agent.address}`,
  )

const other = (agent: Agent, token: string): SkeinError =>
  new SkeinError(
    'not-answered',
    `${agent.address} asks for something other than what its screen shows; no key was pressed`,
    `See both: skein why ${agent.address} ; answer what its screen shows: skein approve ${agent.address} --token ${token}`,
  )
