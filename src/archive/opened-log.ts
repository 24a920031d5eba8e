import type { Fact } from '../tools/index.js'
import type { LogOrigin, ReadMark } from './archived-log.js'
import type { LiveReader } from './live-file.js'
import type { SealedHeader } from './sealed-file.js'
import type { SealedReader } from './sealed-reader.js'

/** What the archive has of one log, or of an older version of it, to be read a piece at a time. */
export class OpenedLog implements Disposable {
  /** What could not be read, one line each. All of it is known when all pieces were read. */
  readonly problems: string[] = []

  private constructor(
    private readonly sealed: SealedReader | undefined,
    private readonly live: LiveReader | undefined,
    private readonly name: string,
    readonly origin: LogOrigin,
    private readonly through: ReadMark,
  ) {}

  /** Takes over what is opened. Undefined when nothing of it can be read. */
  static of(
    sealed: SealedReader | undefined,
    live: LiveReader | undefined,
    name: string,
    isLiveDamaged = false,
  ): OpenedLog | undefined {
    const header = sealed?.header
    const lacksBase = live?.header.base?.how === 'continues' && !header
    const counts = live && (lacksBase || livesOn(live.header.base, header))
    if (!counts) live?.[Symbol.dispose]()
    if (!counts && !header) {
      sealed?.[Symbol.dispose]()
      return undefined
    }
    const [origin, standing] = counts ? [live.header, live.standing] : [header, header]
    const log = new OpenedLog(sealed, counts ? live : undefined, name, origin as LogOrigin, standing as ReadMark)
    if (sealed && !header) log.problems.push(`${name}.sealed: its first line is damaged`)
    if (lacksBase) log.problems.push(`${name}.live: the sealed file that it continues is missing or damaged`)
    if (isLiveDamaged) log.problems.push(`${name}.live: its beginning is damaged`)
    return log
  }

  /** How far it goes: as far as it was sound, once it was read. */
  get standing(): ReadMark {
    return this.live?.standing ?? this.through
  }

  /** Tells whether it is still what was opened. */
  get mark(): string {
    return `${this.sealed?.header?.id} ${this.live?.header.id} ${this.live?.bytes}`
  }

  *pieces(): Generator<Fact[], void> {
    const isBefore = !this.live || this.live.header.base?.how === 'continues'
    if (this.sealed?.header && isBefore) {
      const problem = yield* this.sealed.pieces()
      if (problem) this.problems.push(`${this.name}.sealed: ${problem}`)
    }
    if (!this.live) return
    yield* this.live.batches()
    if (this.live.problem) this.problems.push(`${this.name}.live: ${this.live.problem}`)
  }

  *facts(): Generator<Fact, void> {
    for (const piece of this.pieces()) yield* piece
  }

  [Symbol.dispose](): void {
    this.sealed?.[Symbol.dispose]()
    this.live?.[Symbol.dispose]()
  }
}

/** Whether a live file counts beside this sealed file. One that was sealed already, by a process that died then, does not. */
export function livesOn(base: { id: string; how: string } | undefined, sealed: SealedHeader | undefined): boolean {
  return sealed ? base?.id === sealed.id : base?.how !== 'continues'
}
