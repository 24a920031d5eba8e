import { closeSync, fsyncSync, openSync, readSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { syncPath, temporaryName, writeAtomic, writeFully } from '../disk/index.js'
import type { Fact } from '../tools/index.js'
import { piecesHeader, type SealedHeader, sealedBytes, sealedPiece } from './sealed-file.js'

/** A piece is compressed when it has this many characters of text, or this many facts: enough to compress well. */
const PIECE = { characters: 4_000_000, facts: 20_000 }
const COPY_BYTES = 1024 * 1024

/**
 * Writes a sealed file of any length in bounded memory. A log that fits into one piece is written as it always was; of a longer one each
 * piece is compressed and put aside, and the first line, which says how long each is, is put before them at the end.
 */
export class SealedWriter implements Disposable {
  readonly #body: string
  readonly #pieces: [length: number, texts: number][] = []
  #file: number | undefined
  #facts: Fact[] = []
  #characters = 0
  #count = 0
  #bytes = 0
  #sum = 0
  #isClosed = false

  constructor(private readonly path: string) {
    // The end of the name is that of all that a killed process leaves.
    this.#body = temporaryName(`${path}.body`)
  }

  add(facts: readonly Fact[]): void {
    if (this.#isClosed) throw new Error('the writer is closed')
    for (const fact of facts) {
      this.#facts.push(fact)
      this.#characters += charactersIn(fact)
      if (this.#characters >= PIECE.characters || this.#facts.length >= PIECE.facts) this.#flush()
    }
  }

  /** Puts it in its place. On the disk when this returns. */
  finish(header: Parameters<typeof sealedBytes>[0]): void {
    if (this.#isClosed) throw new Error('the writer is closed')
    if (this.#file === undefined) {
      writeAtomic(this.path, sealedBytes(header, this.#facts), { durable: true })
      return
    }
    if (this.#facts.length > 0) this.#flush()
    const whole: Omit<SealedHeader, 'kind' | 'v'> = {
      ...{ ...header, facts: this.#count, bytes: this.#bytes, pieces: this.#pieces, body_crc: this.#sum },
    }
    const temporary = temporaryName(this.path)
    const to = openSync(temporary, 'w', 0o600)
    try {
      writeFully(to, Buffer.from(piecesHeader(whole)))
      copyAll(this.#file, to)
      fsyncSync(to)
      renameSync(temporary, this.path)
    } catch (error) {
      rmSync(temporary, { force: true })
      throw error
    } finally {
      closeSync(to)
    }
    syncPath(dirname(this.path))
  }

  [Symbol.dispose](): void {
    this.#isClosed = true
    if (this.#file === undefined) return
    closeSync(this.#file)
    rmSync(this.#body, { force: true })
    this.#file = undefined
  }

  #flush(): void {
    const { data, texts, facts, size, sum } = sealedPiece(this.#facts, this.#sum)
    this.#file ??= openSync(this.#body, 'w+', 0o600)
    writeFully(this.#file, data)
    this.#pieces.push([data.length, texts])
    this.#count += facts
    this.#bytes += size
    this.#sum = sum
    this.#facts = []
    this.#characters = 0
  }
}

function copyAll(from: number, to: number): void {
  const piece = Buffer.allocUnsafe(COPY_BYTES)
  for (let at = 0; ; ) {
    const read = readSync(from, piece, 0, COPY_BYTES, at)
    if (read === 0) return
    writeFully(to, piece.subarray(0, read))
    at += read
  }
}

function charactersIn(fact: Fact): number {
  switch (fact.kind) {
    case 'turn':
      return fact.prompt.length
    case 'said':
      return fact.text.length
    case 'tool-result':
      return fact.result.length
    case 'tool-call':
      return argumentsLength(fact.arguments)
    default:
      return 0
  }
}

/** Roughly: most arguments are texts. */
function argumentsLength(args: Record<string, unknown>): number {
  let length = 0
  for (const value of Object.values(args))
    length += typeof value === 'string' ? value.length : typeof value === 'object' ? JSON.stringify(value).length : 8
  return length
}
