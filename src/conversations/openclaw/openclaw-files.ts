import { closeSync, existsSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import {
  copyGuarded,
  explainDiskError,
  makeDirectory,
  openGuarded,
  readGuarded,
  refuseDead,
  UnsuitableFile,
} from '../../disk/index.js'
import type { SessionEntry } from '../entry.js'
import type { ConversationKey } from '../key.js'
import { readStore, type SessionStore } from '../rows/store-file.js'
import { TRANSCRIPT_GUARD } from '../transcript/transcript-file.js'
import type { OpenClawSource, SourceTranscript } from './openclaw-source.js'

/** OpenClaw's file layout (2026.1 to 2026.7.1): `sessions.json` and transcripts beside it. */
export class OpenClawFiles implements OpenClawSource {
  readonly entries: SessionStore
  readonly #names: string[]

  constructor(private readonly directory: string) {
    this.entries = readStore(join(directory, 'sessions.json'))
    refuseDead(directory)
    this.#names = readdirSync(directory)
  }

  transcriptsOf(_key: ConversationKey, _spelled: string, { sessionId }: SessionEntry): SourceTranscript[] | string {
    const names = this.#names.filter((name) => isTranscriptOf(sessionId, name))
    const odd = names.map((name) => flawOf(join(this.directory, name))).find((flaw) => flaw !== undefined)
    if (odd !== undefined) return odd
    return names.map((name) => ({ name, copyTo: (target) => copyTranscript(join(this.directory, name), target) }))
  }

  [Symbol.dispose](): void {}
}

/** A session's own transcript, those of its topics, and what was put away of either. */
const isTranscriptOf = (sessionId: string, name: string): boolean =>
  name.startsWith(sessionId) &&
  /^(-topic-[A-Za-z0-9._~%!'()*-]+)?\.jsonl(\.(reset|deleted|bak)\.[0-9TZ.-]+)?$/.test(name.slice(sessionId.length))

/** Why a transcript cannot be copied: a link may lead to any file of the user's, which nobody asked to import. */
function flawOf(path: string): string | undefined {
  try {
    closeSync(openGuarded(path, TRANSCRIPT_GUARD))
    return undefined
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return `its transcript ${basename(path)} ${error instanceof UnsuitableFile ? `is ${code}` : `cannot be read (${code})`}`
  }
}

function copyTranscript(from: string, directory: string): boolean {
  const to = join(directory, basename(from))
  try {
    makeDirectory(directory)
    if (existsSync(to)) return readGuarded(from, TRANSCRIPT_GUARD).equals(readGuarded(to, TRANSCRIPT_GUARD))
    copyGuarded(from, to, TRANSCRIPT_GUARD)
    return true
  } catch (error) {
    throw explainDiskError(error, to)
  }
}
