import { isThere } from '../../disk/index.js'
import type { SessionEntry } from '../entry.js'
import type { ConversationKey } from '../key.js'
import type { SessionStore } from '../rows/store-file.js'
import { OpenClawDatabase } from './openclaw-database.js'
import { OpenClawFiles } from './openclaw-files.js'
import type { OpenClawAgent } from './openclaw-layout.js'

/** A transcript at the source: the name it gets here, and how it is copied there. */
export interface SourceTranscript {
  name: string
  /** True when the file is there afterwards with the same content. Another one of that name is never replaced. */
  copyTo(directory: string): boolean
}

/** The conversations of one agent of OpenClaw, read and never written. */
export interface OpenClawSource extends Disposable {
  readonly entries: SessionStore
  /**
   * The transcripts of a conversation: the present one, those of its topics, and those of earlier sessions. A text instead
   * says why they cannot be copied.
   */
  transcriptsOf(key: ConversationKey, spelled: string, entry: SessionEntry): SourceTranscript[] | string
}

/** OpenClaw 2026.7.2 and later keep a database; what is left of the files beside it is older. */
export function openOpenClaw({ agent, sessions, database }: OpenClawAgent): OpenClawSource {
  return isThere(database) ? new OpenClawDatabase(database, agent) : new OpenClawFiles(sessions)
}
