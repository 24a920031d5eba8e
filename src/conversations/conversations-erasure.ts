import { basename } from 'node:path'
import { type Erasable, filesUnder, holdsContent, isUnder, type Sweep } from '../erasure/index.js'
import { withStoreLock } from './rows/store-lock.js'
import { lockTranscript } from './transcript/transcript-writer.js'

const TRANSCRIPT_WAIT_MS = 10_000

/** Conversations of chat gateways: their rows and their transcripts. */
export class ConversationsErasure implements Erasable {
  readonly name = 'conversations'

  constructor(private readonly directory: string) {}

  owns(path: string): boolean {
    return isUnder(path, this.directory)
  }

  async erase(sweep: Sweep): Promise<void> {
    for (const path of filesUnder(this.directory)) {
      if (!holdsContent(path)) continue
      if (path.endsWith('.jsonl')) {
        using _lock = await lockTranscript(path, TRANSCRIPT_WAIT_MS)
        sweep.file(path)
      } else if (basename(path) === 'sessions.json' && !sweep.dryRun) await withStoreLock(path, () => sweep.file(path))
      else sweep.file(path)
    }
  }
}
