import {
  type EntryPatch,
  exportOpenClaw,
  importOpenClaw,
  parseFieldChange,
  type ResetReceipt,
  SETTABLE_FIELDS,
} from '../../conversations/index.js'
import { instantOf, msOf, SkeinError } from '../../model/index.js'
import { flag, optional, repeated, required } from '../field.js'
import { choice, count, path, text, when } from '../kind.js'
import { operation } from '../operation.js'
import { present } from '../present.js'
import { usageError } from '../usage-error.js'
import { conversationDocument, resetDocument } from './documents.js'
import { agentsOf, FILTERS, KEY, KEYS, openConversations, ownerOf, REVISION, STORE } from './store.js'

export const conversationsSet = operation({
  name: 'conversations.set',
  does: 'acts',
  where: 'either',
  summary: 'Change settings of a conversation',
  description: `Fields that can be set: ${SETTABLE_FIELDS.join(', ')}. An empty value removes the field. Either all fields change or none.`,
  input: { key: KEY, change: repeated(text('field=value'), 'What to change'), revision: REVISION, ...STORE },
  result: 'conversation-change',
  async run({ key, change: changes, revision, files }, context) {
    if (changes.length === 0) throw usageError('Nothing to change', 'Write field=value after the key')
    const patch = Object.assign({}, ...changes.map(parseFieldChange)) as EntryPatch
    using store = await openConversations({ files }, context)
    const row = await ownerOf(store, key).patch(key, patch, present({ revision }))
    return { conversation: conversationDocument(row), entry: row.entry }
  },
})

export const conversationsRemove = operation({
  name: 'conversations.remove',
  does: 'acts',
  where: 'either',
  summary: 'Remove a conversation',
  description: 'Removes the entry; keeps the transcript under another name, unless --destroy-transcript is given.',
  input: { key: KEY, destroy_transcript: flag('Delete the transcript too'), revision: REVISION, ...STORE },
  result: 'conversation-removal',
  async run({ key, revision, files, destroy_transcript: destroyTranscript }, context) {
    using store = await openConversations({ files }, context)
    const receipt = await ownerOf(store, key).remove(key, { destroyTranscript, ...present({ revision }) })
    return { removed: resetDocument(receipt) }
  },
})

export const conversationsReset = operation({
  name: 'conversations.reset',
  does: 'acts',
  where: 'either',
  summary: 'Reset conversations',
  description: 'Sets the transcript aside and unbinds the session.',
  input: {
    key: KEYS,
    ...FILTERS,
    keep_metadata: flag('Keep settings, name and address under a new session id'),
    destroy_transcript: flag('Delete the transcript instead of putting it away'),
    revision: REVISION,
    ...STORE,
  },
  result: 'conversation-resets',
  async run({ key: keys, agent, kind, revision, files, keep_metadata, destroy_transcript }, context) {
    const options = { keepMetadata: keep_metadata, destroyTranscript: destroy_transcript }
    if (keys.length === 0 && agent === undefined && kind === undefined)
      throw usageError('Which conversations?', 'Name one by its key, or many with --agent or --kind')
    if (revision !== undefined && keys.length !== 1)
      throw usageError('--revision needs exactly one key', 'Name one conversation')
    using store = await openConversations({ files }, context)
    const done: ResetReceipt[] = []
    const busy: string[] = []
    for (const key of keys) done.push(await ownerOf(store, key).reset(key, { ...options, ...present({ revision }) }))
    if (keys.length === 0) {
      for (const conversations of agentsOf(store, agent)) {
        const batch = await conversations.resetAll(present({ kind }), options)
        done.push(...batch.reset)
        busy.push(...batch.busy)
      }
    }
    return { reset: done.map(resetDocument), busy }
  },
})

export const conversationsPrune = operation({
  name: 'conversations.prune',
  does: 'acts',
  where: 'either',
  summary: 'Remove conversations that are no longer used',
  description: 'Sets their transcripts aside instead of deleting them. Skips conversations that are in use.',
  input: {
    ...FILTERS,
    older_than: optional(when, 'Not active since: 30d, 2026-01-17 or a full time'),
    max: optional(count, 'Keep at most this many per agent'),
    dry_run: flag('Change nothing, only report what would be removed'),
    destroy_transcripts: flag('Delete the transcripts instead of putting them away'),
    ...STORE,
  },
  result: 'conversation-pruning',
  async run({ agent, kind, max, files, older_than, dry_run, destroy_transcripts }, context) {
    if (older_than === undefined && max === undefined) throw usageError('Which ones?', 'Use --older-than or --max')
    using store = await openConversations({ files }, context)
    const olderThanMs = older_than && context.nowMs - msOf(older_than)
    const options = {
      ...present({ olderThanMs, maxEntries: max, kinds: kind && [kind] }),
      dryRun: dry_run,
      destroyTranscripts: destroy_transcripts,
    }
    const receipts = []
    for (const conversations of agentsOf(store, agent)) receipts.push(await conversations.prune(options))
    const pruned = receipts.flatMap((receipt) => receipt.pruned)
    return {
      dry_run,
      pruned: pruned.map(({ key, reason, updatedAt }) => ({ key, reason, updated_at: instantOf(updatedAt) })),
      busy: receipts.flatMap((receipt) => receipt.busy),
      kept: receipts.reduce((sum, receipt) => sum + receipt.kept, 0),
    }
  },
})

export const conversationsImport = operation({
  name: 'conversations.import',
  does: 'acts',
  where: 'either',
  summary: 'Import conversations from another program',
  description: "Copies entries and transcripts; the other program's files are not changed.",
  input: {
    program: required(choice('program', ['openclaw']), 'The program whose files they are'),
    directory: required(
      path('directory', 'directory'),
      'Its state directory (~/.openclaw), or the sessions directory of one agent',
    ),
    replace: flag('Replace conversations that already exist'),
    dry_run: flag('Change nothing, only report what would be imported'),
    ...STORE,
  },
  result: 'conversation-import',
  async run({ directory, replace, dry_run, files }, context) {
    using store = await openConversations({ files }, context)
    const options = { onExisting: replace ? ('replace' as const) : ('keep' as const), dryRun: dry_run }
    return { dry_run, agents: await importOpenClaw(store, directory, options) }
  },
})

export const conversationsExport = operation({
  name: 'conversations.export',
  does: 'acts',
  where: 'either',
  summary: 'Export conversations to another program',
  description:
    'For OpenClaw: the layout of 2026.7.1, which newer versions convert automatically. Nothing is overwritten.',
  input: {
    program: required(choice('program', ['openclaw']), 'The program to write for'),
    directory: required(
      path('directory', 'directory'),
      'The target directory; it must not contain a store of these agents yet',
    ),
    agent: optional(text('agent'), 'Only conversations of this agent'),
    ...STORE,
  },
  result: 'conversation-export',
  async run({ directory, agent, files }, context) {
    using store = await openConversations({ files }, context)
    const agents = agentsOf(store, agent).map((conversations) => conversations.agent)
    if (agents.length === 0)
      throw new SkeinError('bad-input', 'There are no conversations to export', 'Try: skein conversations list')
    return { agents: await exportOpenClaw(store, directory, { agents }) }
  },
})
