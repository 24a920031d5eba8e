import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { makeDirectory, readPlain, writeAtomic } from '../disk/index.js'
import { readJson } from '../model/index.js'

// Loaded on first use: 1.5 ms that a command without large payloads need not pay.
const sha256Of = (content: string): string =>
  process.getBuiltinModule('node:crypto').createHash('sha256').update(content).digest('hex')

export interface BlobReference {
  sha256: string
  bytes: number
}

/** Payloads too large for a journal line, one file each, named by their hash. */
export class BlobStore {
  constructor(private readonly directory: string) {}

  /** On the disk when this returns, so that no event can point at nothing after a power cut. */
  put(content: string): BlobReference {
    const sha256 = sha256Of(content)
    const path = this.#path(sha256)
    if (!existsSync(path)) {
      makeDirectory(this.directory)
      writeAtomic(path, content, { durable: true })
    }
    return { sha256, bytes: Buffer.byteLength(content) }
  }

  /** The payload, or undefined when the blob is gone or is not what its name says. */
  get(reference: unknown): unknown {
    if (!isBlobReference(reference)) return undefined
    try {
      const content = readPlain(this.#path(reference.sha256))?.toString()
      return content !== undefined && sha256Of(content) === reference.sha256 ? readJson(content) : undefined
    } catch {
      return undefined
    }
  }

  /** Deletes every blob that no event refers to any more. The caller holds the writer lock, so none is being added. */
  keepOnly(referenced: ReadonlySet<string>): void {
    for (const name of existsSync(this.directory) ? readdirSync(this.directory) : []) {
      if (!referenced.has(name.replace(/\.json$/, ''))) rmSync(join(this.directory, name), { force: true })
    }
  }

  #path(sha256: string): string {
    return join(this.directory, `${sha256}.json`)
  }
}

export function isBlobReference(value: unknown): value is BlobReference {
  if (typeof value !== 'object' || value === null) return false
  const { sha256, bytes, ...others } = value as Partial<Record<string, unknown>>
  return isSha256(sha256) && typeof bytes === 'number' && Object.keys(others).length === 0
}

const isSha256 = (value: unknown): boolean => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value)
