import { join } from 'node:path'
import { ArchiveErasure } from '../archive/index.js'
import { ConversationsErasure } from '../conversations/index.js'
import type { Erasable, ErasableStores } from '../erasure/index.js'
import { HistoryErasure, TextErasure } from '../ingest/index.js'
import { type GitProgram, SnapshotsErasure } from '../snapshots/index.js'
import {
  AgentFilesErasure,
  BudgetsErasure,
  JournalErasure,
  ProfileStore,
  profilePaths,
  SpoolErasure,
} from '../store/index.js'

/**
 * Every store of a profile that keeps words, in the order in which a purge visits them: what others are derived from comes first. A new
 * store is added here, and nowhere else. Loaded by a purge alone.
 */
const STORES: readonly ((profile: ProfileStore, git: GitProgram) => Erasable)[] = [
  (profile) => new JournalErasure(profile),
  ({ paths, context }) => new ArchiveErasure(paths.words, context),
  ({ paths }) => new HistoryErasure(paths.history),
  ({ paths }) => new TextErasure(paths.text),
  ({ paths }) => new AgentFilesErasure(paths),
  ({ paths }) => new SpoolErasure(paths),
  ({ paths }) => new BudgetsErasure(paths),
  ({ paths }) => new ConversationsErasure(join(paths.directory, 'conversations')),
  ({ paths }, git) => new SnapshotsErasure(paths.snapshots, git),
]

/** The stores of a profile of the home; `open` is used for its own profile, and stays open. */
export function wordStores(root: string, profile: string, open: ProfileStore, git: GitProgram): ErasableStores {
  const paths = profilePaths(root, profile)
  const isOpen = paths.directory === open.paths.directory
  const store = isOpen ? open : new ProfileStore(paths, open.context, { readOnly: false })
  return {
    stores: STORES.map((make) => make(store, git)),
    [Symbol.asyncDispose]: async () => {
      if (!isOpen) await store[Symbol.asyncDispose]()
    },
  }
}
