import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { PaneId, PaneInfo, Terminal } from '../../src/terminal/index.js'
import { fakeTool } from './fake-tool.js'

/** All dialogs ask it in the same words: the command is elsewhere, or nowhere. */
export const QUESTION = 'Do you want to proceed?'

/** One dialog of the program. `hook`: when its hook reaches the spool. */
export interface ScriptedDialog {
  command: string
  /** Whether its screen shows the command, in lines of its own, as a terminal shows it. */
  isShown: boolean
  /** Its hook tells nothing that would have to be on the screen. */
  isLoose?: boolean
  hook: 'before' | 'late' | 'never'
  /** So many looks pass before it is drawn. What is seen until then; else that it works. */
  undrawnFor?: number
  undrawnAs?: string
}

/** A command as it is seen: without what cannot be seen. */
export const seen = (command: string): string => command.replace(/\p{Cf}/gu, '')

/** What happens in the program just before it is looked at or a key reaches it. */
export type Moment = 'nothing' | 'answered in the pane' | 'answered unseen' | 'hook'

export const TOOL = fakeTool({ name: 'scripted' })
const OPTIONS = ['No', 'Yes', 'Yes, always']
const PANE = '%1' as PaneId

/**
 * A program in a terminal, both made of values: it shows one dialog after the other and goes on by a script, also between a look
 * and a key. Like the real ones it takes no key until a dialog has been on the screen for a moment, which is one look here.
 */
export class ScriptedProgram {
  /** Which dialogs were answered by keys, and how. */
  readonly answers: { dialog: number; label: string }[] = []
  /** The dialog that was read last. */
  read: number | undefined
  #at = 0
  #selected = 0
  #looks = 0
  #dropped = 0
  #undrawn = 0
  #messages = 0
  readonly #late: number[] = []

  constructor(
    private readonly dialogs: readonly ScriptedDialog[],
    private readonly moments: Iterator<Moment>,
    /** Keys that are lost, of each dialog. */
    private readonly drops: number,
    private readonly place: { agent: string; run: string; spool: string; nowMs: () => number },
  ) {
    this.#draw()
  }

  /** The dialog that is on its screen now. */
  get shown(): number | undefined {
    return this.#at < this.dialogs.length ? this.#at : undefined
  }

  readonly terminal = {
    panes: async () => [this.#info()],
    pane: async () => this.#info(),
    capture: async () => this.#look(),
    captureAll: async () => new Map([[PANE, this.#look()]]),
    press: async (_: PaneId, keys: readonly string[]) => {
      this.#moment()
      for (const key of keys) this.#key(key)
    },
    publish: async () => {},
    setEnvironment: async () => {},
  } as unknown as Terminal

  #info(): PaneInfo {
    const { agent } = this.place
    const facts = { pane: PANE, session: 's', pid: process.pid, command: 'scripted', title: '', cwd: '/', agent }
    return { ...facts, width: 80, height: 24, isDead: false, isSeen: false, serverPid: 1 } as PaneInfo
  }

  #look(): string {
    this.#moment()
    const dialog = this.dialogs[this.#at]
    if (!dialog || this.#undrawn++ < (dialog.undrawnFor ?? 0)) return dialog?.undrawnAs ?? 'WORKING …'
    this.#looks += 1
    this.read = this.#at
    const rows = OPTIONS.map((label, at) => `${at === this.#selected ? '❯' : ' '} ${label}`)
    const shown = dialog.isShown ? seen(dialog.command).split('\n') : []
    return [`QUESTION: ${QUESTION}`, ...shown.map((line) => `  $ ${line}`), ...rows].join('\n')
  }

  #moment(): void {
    const moment = this.moments.next().value as Moment
    if (moment === 'hook') for (const late of this.#late.splice(0)) this.#tell('ask', late)
    if (moment === 'answered in the pane' && this.shown !== undefined) this.#goOn()
    // What it was allowed to do takes its time, and its end is told only then.
    if (moment === 'answered unseen') this.#goOn(false)
  }

  #key(key: string): void {
    const dialog = this.shown
    if (dialog === undefined || this.#looks === 0) return
    if (this.#dropped < this.drops) {
      this.#dropped += 1
      return
    }
    if (key === 'Down') this.#selected = Math.min(this.#selected + 1, OPTIONS.length - 1)
    if (key === 'Up') this.#selected = Math.max(this.#selected - 1, 0)
    if (key !== 'Enter') return
    this.answers.push({ dialog, label: OPTIONS[this.#selected] ?? '' })
    this.#goOn()
  }

  #goOn(isTold = true): void {
    if (isTold && this.dialogs[this.#at]?.hook !== 'never') this.#tell('answered', this.#at)
    this.#at += 1
    this.#draw()
  }

  #draw(): void {
    ;[this.#selected, this.#looks, this.#dropped, this.#undrawn] = [0, 0, 0, 0]
    const dialog = this.dialogs[this.#at]
    if (dialog?.hook === 'before') this.#tell('ask', this.#at)
    if (dialog?.hook === 'late') this.#late.push(this.#at)
  }

  #tell(event: 'ask' | 'answered', at: number): void {
    const { agent, run, spool, nowMs } = this.place
    this.#messages += 1
    const name = `${BigInt(nowMs()) * 1_000_000n + BigInt(this.#messages)}`
    const head = JSON.stringify({ v: 1, agent, run, tool: TOOL.name })
    const { command: what, isLoose } = this.dialogs[at] ?? {}
    const said = JSON.stringify({ event, kind: 'permission', what, isLoose })
    writeFileSync(join(spool, `.${name}`), `${head}\n${said}`)
    renameSync(join(spool, `.${name}`), join(spool, `${name}.msg`))
  }
}
