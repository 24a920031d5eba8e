import { type Instant, shapes } from '../../model/index.js'

/** What a start does, in order. Options of the role decide which of the later ones are done. */
export const START_STEPS = [
  'resolve',
  'environment',
  'prompt',
  'command',
  'end-before',
  'settings',
  'session',
  'remain-on-exit',
  'tmux-environment',
  'theme',
  'record',
  'wait',
  'auto-respawn',
  'dialogs',
  'ready',
  'track-pid',
  'verify',
] as const
export type StartStepName = (typeof START_STEPS)[number]

/** Whether nothing of the program runs yet when this step begins. */
export const isBeforeProgram = (step: StartStepName): boolean =>
  START_STEPS.indexOf(step) <= START_STEPS.indexOf('session')

export interface StartStep {
  name: StartStepName
  ms: number
  outcome: 'done' | 'skipped' | 'failed'
  note?: string
}

/** The last start of an agent, for `skein why --start`, and why it was started, for the session that it began. */
export interface StartRecord {
  at: Instant
  steps: StartStep[]
  topic?: string
  sender?: string
  /** Its pane is closed once its end is recorded. */
  closes_pane?: boolean
}

const { count, flag, listOf, shape, shaped, text, time } = shapes
const STEPS = listOf(shaped(shape({ name: text, ms: count, outcome: text, 'note?': text })))

export const isStartSteps = (value: unknown): value is StartStep[] => STEPS(value)
export const isStartRecord = shaped(
  shape({ at: time, steps: STEPS, 'topic?': text, 'sender?': text, 'closes_pane?': flag }),
)

/** Writes down each step of one start with its duration and outcome. */
export class StartSteps {
  readonly #steps: StartStep[] = []

  constructor(
    readonly at: Instant,
    /** Called before each step; what it throws fails that step. */
    private readonly before: (step: StartStepName) => void = () => {},
  ) {}

  get list(): StartStep[] {
    return [...this.#steps]
  }

  /** The step that failed, if one did. */
  get failed(): StartStep | undefined {
    return this.#steps.find(({ outcome }) => outcome === 'failed')
  }

  async do<T>(name: StartStepName, work: () => Promise<T> | T, note?: (result: T) => string | undefined): Promise<T> {
    const begun = performance.now()
    const took = (): number => Math.round((performance.now() - begun) * 10) / 10
    try {
      this.before(name)
      const result = await work()
      const said = note?.(result)
      this.#steps.push({ name, ms: took(), outcome: 'done', ...(said ? { note: said } : {}) })
      return result
    } catch (error) {
      return this.#fail(name, took(), error)
    }
  }

  #fail(name: StartStepName, ms: number, error: unknown): never {
    this.#steps.push({ name, ms, outcome: 'failed', note: (error as Error).message.trim().slice(0, 200) })
    throw error
  }

  /** Part of another step: it has no duration of its own. */
  done(name: StartStepName, note: string): void {
    try {
      this.before(name)
      this.#steps.push({ name, ms: 0, outcome: 'done', note })
    } catch (error) {
      this.#fail(name, 0, error)
    }
  }

  skip(name: StartStepName, note: string): void {
    this.#steps.push({ name, ms: 0, outcome: 'skipped', note })
  }
}
