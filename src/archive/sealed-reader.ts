import { closeSync, existsSync, fstatSync } from 'node:fs'
import { openPlain } from '../disk/index.js'
import type { Fact } from '../tools/index.js'
import { readAt } from './read-at.js'
import { HEADER_BYTES, type SealedBody, type SealedHeader, sealedHeader, sealedPieces } from './sealed-file.js'

/** A sealed log, in a file of its own or in memory, read a piece at a time. */
export class SealedReader implements Disposable {
  private constructor(
    /** Undefined when its first line is damaged. */
    readonly header: SealedHeader | undefined,
    private readonly body: SealedBody,
    private readonly file: number | undefined,
  ) {}

  /** Undefined when there is no such file. */
  static open(path: string): SealedReader | undefined {
    const file = existsSync(path) ? openPlain(path) : undefined
    if (file === undefined) return undefined
    const { size } = fstatSync(file)
    for (let length = HEADER_BYTES; ; length *= 4) {
      const head = readAt(file, 0, Math.min(length, size))
      const start = head.indexOf(0x0a) + 1
      if (start === 0 && head.length < size) continue
      const body = { length: size - start, read: (at: number, most: number) => readAt(file, start + at, most) }
      return new SealedReader(sealedHeader(head), body, file)
    }
  }

  static of(bytes: Buffer | undefined): SealedReader | undefined {
    if (!bytes) return undefined
    const start = bytes.indexOf(0x0a) + 1
    const body = {
      length: bytes.length - start,
      read: (at: number, most: number) => bytes.subarray(start + at, start + at + most),
    }
    return new SealedReader(sealedHeader(bytes), body, undefined)
  }

  /** Returns what is wrong with it. */
  *pieces(): Generator<Fact[], string | undefined> {
    return this.header ? yield* sealedPieces(this.header, this.body) : 'its first line is damaged'
  }

  [Symbol.dispose](): void {
    if (this.file !== undefined) closeSync(this.file)
  }
}
