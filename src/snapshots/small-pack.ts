import { createHash } from 'node:crypto'
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { crc32, deflateSync } from 'node:zlib'

export type ObjectKind = 'blob' | 'tree' | 'commit'

export interface NewObject {
  oid: string
  kind: ObjectKind
  content: Buffer
}

const KINDS: Readonly<Record<ObjectKind, number>> = { commit: 1, tree: 2, blob: 3 }

/**
 * Writes a few objects as one pack with its index: two files, where loose objects are one each, most with a new directory. To make a
 * file takes longer than to compress what is in it. The objects must differ.
 */
export function writePack(store: string, objects: readonly NewObject[], format: 'sha1' | 'sha256'): void {
  const sorted = [...objects].sort((a, b) => (a.oid < b.oid ? -1 : 1))
  const { pack, offsets, sums } = packOf(sorted, format)
  const sum = pack.subarray(pack.length - (format === 'sha256' ? 32 : 20))
  const index = indexOf(sorted, { offsets, sums, sum, format })
  const directory = join(store, 'objects', 'pack')
  const name = `pack-${sum.toString('hex')}`
  // The index comes last: git looks for it, and must then find the pack. Upkeep removes temporary files by their first letters.
  put(directory, `${name}.pack`, pack)
  put(directory, `${name}.idx`, index)
}

function put(directory: string, name: string, bytes: Buffer): void {
  const temporary = join(directory, `tmp_${process.pid}${process.hrtime.bigint()}`)
  try {
    writeFileSync(temporary, bytes, { mode: 0o400, flag: 'wx' })
    renameSync(temporary, join(directory, name))
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}

function packOf(
  objects: readonly NewObject[],
  format: string,
): { pack: Buffer; offsets: readonly number[]; sums: readonly number[] } {
  const head = Buffer.from('PACK\0\0\0\x02\0\0\0\0', 'latin1')
  head.writeUInt32BE(objects.length, 8)
  const parts: Buffer[] = [head]
  const offsets: number[] = []
  const sums: number[] = []
  let length = head.length
  for (const { kind, content } of objects) {
    const [start, body] = [headerOf(KINDS[kind], content.length), deflateSync(content, { level: 1 })]
    offsets.push(length)
    sums.push(crc32(body, crc32(start)))
    parts.push(start, body)
    length += start.length + body.length
  }
  const bytes = Buffer.concat(parts, length)
  return { pack: Buffer.concat([bytes, createHash(format).update(bytes).digest()]), offsets, sums }
}

/** Kind and size: four bits of the size, then seven per byte, each byte but the last with its high bit set. */
function headerOf(kind: number, size: number): Buffer {
  const bytes = [(kind << 4) | (size & 15)]
  for (let left = Math.floor(size / 16); left > 0; left = Math.floor(left / 128)) {
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) | 128
    bytes.push(left & 127)
  }
  return Buffer.from(bytes)
}

interface PackFacts {
  offsets: readonly number[]
  sums: readonly number[]
  sum: Buffer
  format: string
}

/** Version 2 without offsets beyond 2 GB: the pack has a few megabytes. */
function indexOf(objects: readonly NewObject[], { offsets, sums, sum, format }: PackFacts): Buffer {
  const numbers = Buffer.alloc(8 + 256 * 4)
  numbers.write('\xfftOc\0\0\0\x02', 'latin1')
  for (const { oid } of objects)
    for (let first = Number.parseInt(oid.slice(0, 2), 16); first < 256; first += 1)
      numbers.writeUInt32BE(numbers.readUInt32BE(8 + first * 4) + 1, 8 + first * 4)
  const words = (values: readonly number[]): Buffer => {
    const bytes = Buffer.alloc(values.length * 4)
    for (const [n, value] of values.entries()) bytes.writeUInt32BE(value, n * 4)
    return bytes
  }
  const oids = objects.map(({ oid }) => Buffer.from(oid, 'hex'))
  const bytes = Buffer.concat([numbers, ...oids, words(sums), words(offsets), sum])
  return Buffer.concat([bytes, createHash(format).update(bytes).digest()])
}
