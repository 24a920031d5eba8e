import { jsonDocument, jsonLine } from '../../operations/index.js'
import { COLOUR_PAINT, PLAIN_PAINT } from './paint.js'
import type { Screen } from './screen.js'

/** The part of a standard stream that a command needs. */
export interface Stream {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

export interface OutputOptions {
  json: boolean
  colour: boolean
  /** What the environment says a line holds, for terminals that do not say it themselves. */
  columns: number | undefined
  now(): number
}

/** Where a command puts its answer (stdout) and what it has to say beside it (stderr). */
export class Output {
  exitCode: 0 | 1 = 0

  constructor(
    private readonly stdout: Stream,
    private readonly stderr: Stream,
    private readonly options: OutputOptions,
  ) {}

  get json(): boolean {
    return this.options.json
  }

  /** Whether a person reads it, and nothing keeps it. */
  get isTerminal(): boolean {
    return this.stdout.isTTY === true
  }

  get screen(): Screen {
    const { colour, columns, now } = this.options
    return {
      width: this.stdout.isTTY ? this.stdout.columns || columns || 80 : Number.POSITIVE_INFINITY,
      paint: colour && this.stdout.isTTY ? COLOUR_PAINT : PLAIN_PAINT,
      nowMs: now(),
    }
  }

  /** The whole answer: one JSON document, or a text for people. */
  result(document: unknown, draw: (screen: Screen) => string): void {
    this.text(this.json ? jsonDocument(document) : draw(this.screen))
  }

  /** One of a stream of answers. */
  item(document: unknown, draw: (screen: Screen) => string): void {
    this.text(this.json ? jsonLine(document) : draw(this.screen))
  }

  /** Text that is the same for people and programs, such as a script. */
  text(text: string): void {
    if (text !== '') this.stdout.write(`${text}\n`)
  }

  /** Talk, not answer: one line. */
  note(line: string): void {
    this.stderr.write(`${line}\n`)
  }

  /** The command could be carried out, and its answer is bad news. */
  fails(): void {
    this.exitCode = 1
  }
}
