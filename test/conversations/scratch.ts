import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type Backend, ConversationStore, type StoreOptions } from '../../src/conversations/index.js'

/** A directory that is gone when the test is over. */
export function scratch(): string {
  const directory = mkdtempSync(join(tmpdir(), 'skein-conversations-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

export interface FakeWorld {
  clock: { now(): number }
  random: { bytes(count: number): Uint8Array; uuid(): string }
  /** Move the clock. */
  pass(ms: number): void
}

export const START = Date.UTC(2026, 0, 15, 12)

/** A clock that stands still until told otherwise, and ids in order. */
export function fakeWorld(startMs = START): FakeWorld {
  let now = startMs
  let count = 0
  return {
    clock: { now: () => now },
    random: {
      bytes: (length) => Buffer.from((++count).toString(16).padStart(length * 2, '0'), 'hex'),
      uuid: () => `00000000-0000-4000-8000-${(++count).toString(16).padStart(12, '0')}`,
    },
    pass: (ms) => {
      now += ms
    },
  }
}

export function openStore(backend: Backend, options: Partial<StoreOptions> = {}): ConversationStore {
  const store = new ConversationStore({ directory: scratch(), backend, ...options })
  onTestFinished(() => store[Symbol.dispose]())
  return store
}

export const BACKENDS: readonly Backend[] = ['rows', 'files']
