import { type BlockPlace, type PackedBlock, packPassages, type SharedWords } from '../../archive/index.js'
import type { Fact, LogRef } from '../../tools/index.js'
import type { LogText } from './log-text.js'
import { ANSWER, keyNumber } from './passage.js'
import { type Passage, passagesOf, type StoredCall, textOf } from './passage-text.js'
import type { Redactions } from './redaction-count.js'

/** How far the text of a log was read, and where its session works. */
export interface StoredText {
  n: number
  stamp: string
  place: string | null
  cwd: string | null
  /** Set for the log of a sub-agent. */
  agent: string | null
}

/** One reading of one log, with where it started from and what may be kept of it. */
export interface TextReading {
  log: LogRef
  from: StoredText | undefined
  text: LogText
  /** Filtered. */
  facts: readonly Fact[]
  /** Up to where the log was read. */
  place: string | null
  /** The fingerprint of the policy that it was filtered by; undefined when that is not known. */
  policy: string | undefined
  /** What was left out of it. */
  redactions?: Redactions
}

/** A passage as it is stored. */
export interface ReadyPassage extends Pick<Passage, 'kind' | 'agent' | 'turn'> {
  key: number
  /** Its place in time; of a log that tells no times, when it was last changed. */
  atMs: number
  name: string | undefined
  /** Its text. */
  bytes: Buffer
}

/** A reading in the shape in which it is stored. Its facts are no longer needed. */
export interface ReadyText extends Omit<TextReading, 'text' | 'facts'> {
  isRestarted: boolean
  /** Whose words they are, as far as the reading tells. */
  session: string | null
  agent: string | null
  cwd: string | null
  passages: readonly ReadyPassage[]
  /** Compressed ahead, when nothing was stored of the log: otherwise they may go on in its last block. */
  packed: { blocks: PackedBlock[]; places: BlockPlace[] } | undefined
}

/** What is stored of a call, and where. */
export type KnownPassage = StoredCall & { agent: string; turn: number; at_ms: number }

/** Takes longer than storing it, and needs no lock. `storedCall` returns a call of an earlier reading of this log. */
export function readyText(
  { text, facts, ...reading }: TextReading,
  storedCall: (log: number, key: number) => KnownPassage | undefined,
): { text: ReadyText; words: SharedWords | undefined } {
  const { log, from } = reading
  const { news, isRestarted } = text
  const known = isRestarted ? undefined : from
  const otherwiseMs = Date.parse(log.modified_at)
  const writer = new PassageWriter()
  for (const told of passagesOf(facts, news)) {
    const key = keyNumber(told.key)
    const mayBeStored = known && (told.kind === 'tools' || told.kind === 'titles')
    const stored = mayBeStored ? storedCall(known.n, key) : undefined
    const words = textOf(told, stored)
    if (words.asked === '' && words.answered === '') continue
    // A result that comes later changes nothing about when and where its call was made, nor a new title about when it began.
    const isLater = stored && !told.call && (told.kind === 'tools' || told.at === undefined)
    const { agent, turn } = isLater ? stored : told
    const atMs = isLater ? stored.at_ms : told.at === undefined ? otherwiseMs : Date.parse(told.at)
    const name = told.call?.name ?? (told.kind === 'tools' ? stored?.name : undefined)
    writer.write({ kind: told.kind, agent, turn, key, atMs, name, bytes: NOTHING }, words, told)
  }
  const passages = writer.passages()
  const packed = from ? undefined : packPassages(passages)
  const ready: ReadyText = {
    ...reading,
    isRestarted,
    session: log.session ?? news.spawner?.session ?? news.id ?? null,
    agent: log.agent ?? news.spawner?.agent ?? null,
    cwd: news.cwd ?? from?.cwd ?? null,
    passages,
    packed,
  }
  return { text: ready, words: packed && writer.shared(packed) }
}

/** Where a text is in a passage. */
interface Part {
  passage: number
  from: number
  length: number
}

/** The passages of a log in one piece of memory: a buffer for each costs more than its words. */
class PassageWriter {
  static #scratch = Buffer.allocUnsafe(256 * 1024)
  readonly #told: ReadyPassage[] = []
  readonly #ends: number[] = []
  readonly #parts = new Map<Fact, Part>()
  #length = 0

  /** Takes the passage over: it has its bytes when all are written. */
  write(passage: ReadyPassage, { asked, answered }: Words, { said, answered: answer, result }: Passage): void {
    const start = this.#length
    const number = this.#told.length
    this.#put(asked)
    if (said) this.#parts.set(said, { passage: number, from: 0, length: this.#length - start })
    if (answered !== '') {
      this.#put(ANSWER)
      const from = this.#length - start
      this.#put(answered)
      // What was changed to be stored here is not what the fact says.
      if (answer && answered === result)
        this.#parts.set(answer, { passage: number, from, length: this.#length - start - from })
    }
    this.#told.push(passage)
    this.#ends.push(this.#length)
  }

  passages(): ReadyPassage[] {
    const bytes = Buffer.allocUnsafeSlow(this.#length)
    PassageWriter.#scratch.copy(bytes, 0, 0, this.#length)
    for (const [at, passage] of this.#told.entries())
      passage.bytes = bytes.subarray(this.#ends[at - 1] ?? 0, this.#ends[at])
    return this.#told
  }

  shared({ blocks, places }: { blocks: readonly PackedBlock[]; places: readonly BlockPlace[] }): SharedWords {
    return {
      blocks,
      placeOf: (fact) => {
        const part = this.#parts.get(fact)
        const place = part && places[part.passage]
        return place && [place.block, place.start + part.from, part.length]
      },
    }
  }

  #put(words: string): void {
    const most = this.#length + words.length * 3
    if (most > PassageWriter.#scratch.length) {
      const larger = Buffer.allocUnsafe(most * 2)
      PassageWriter.#scratch.copy(larger, 0, 0, this.#length)
      PassageWriter.#scratch = larger
    }
    this.#length += PassageWriter.#scratch.write(words, this.#length)
  }
}

type Words = ReturnType<typeof textOf>
const NOTHING = Buffer.alloc(0)
