import type { Forgetter } from '../privacy/index.js'
import type { RawSearch } from './raw-search.js'
import type { Sweep } from './sweep.js'

/** What a proof looks for: by its meaning in texts, by its letters in bytes. */
export interface SoughtWords {
  forgetter: Forgetter
  raw: RawSearch
}

/** What a file holds of it, once unpacked. */
export interface Meaning {
  /** How many bytes were looked at beyond those of the file. */
  bytes: number
  count: number
}

/** A part of a log of a tool. Records are found by it, so its path stays where it is. */
export interface LogPart {
  path: string
  part: string
}

/**
 * A store that keeps words of people or programs: how it finds them, removes them and proves that they are gone. A purge visits every
 * store of every profile, and knows none of them. `test/contracts/erasable.ts` is what each must pass.
 */
export interface Erasable {
  readonly name: string
  /** Whether a file is kept by this store. Files that no store keeps are erased as plain files. */
  owns(path: string): boolean
  /**
   * Removes what must go from all that this store keeps, and reports each place to `sweep.found`. With `sweep.dryRun` it only reports.
   * It may be killed at any moment and is then called again, and it takes the locks that writers of this store take.
   */
  erase(sweep: Sweep): Promise<void>
  /**
   * Looks into a file of a format that only this store knows, wherever it is. Undefined for any other file; 'unreadable' for a damaged
   * one. Plain text, JSON, gzip and the text columns of databases need no such method.
   */
  meaning?(path: string, head: Buffer, sought: SoughtWords): Meaning | 'unreadable' | undefined
  /** For a file that holds words in lower case beside the texts they come from: those texts. Undefined for any other file. */
  lowercased?(path: string): Iterable<string> | undefined
  /** The logs that its records come from: those of one session, or all. */
  logs?(session?: string): LogPart[]
}

/** The stores of one profile, in the order in which they are erased. */
export interface ErasableStores extends AsyncDisposable {
  readonly stores: readonly Erasable[]
}
