import { restoredText } from '../../interchange/index.js'
import { flag, optional } from '../field.js'
import { count, sessionRef } from '../kind.js'
import { operation } from '../operation.js'
import { present } from '../present.js'
import { SESSION } from '../sessions/session-ref.js'

export const archiveList = operation({
  name: 'archive.list',
  does: 'reads',
  where: 'either',
  summary: 'List what is archived, newest first',
  input: {
    session: optional(sessionRef, 'Only this session, with its sub-agents'),
    gone: flag('Only logs that their tools have deleted'),
  },
  result: 'archive-list',
  run: async ({ session, gone }, { home }) => ({
    logs: await (await home()).archive.list(present({ session, gone: gone || undefined })),
  }),
})

export const archiveRestore = operation({
  name: 'archive.restore',
  does: 'reads',
  where: 'either',
  summary: 'Write an archived session as a document',
  description:
    "Markdown with everything that was said, in order. It contains what was kept, filtered for privacy. It is not the tool's log, and no tool can resume from it.",
  input: {
    session: SESSION,
    version: optional(
      count,
      'An older version, from before its log was rewritten; skein archive list --json lists them',
    ),
  },
  result: 'restore-report',
  async run({ session: reference, version }, { home }) {
    const restored = await (await home()).archive.restore(reference, present({ version }))
    const { session, logs, problems } = restored
    return { session: session.id, logs: logs.length, problems, document: restoredText(restored) }
  },
})

export const archiveStats = operation({
  name: 'archive.stats',
  does: 'reads',
  where: 'either',
  summary: 'Count what is archived and show how long it is kept',
  description:
    'Everything is kept unless config.toml says otherwise: [archive] with max_age (such as "365d") and max_size (such as "2GB").',
  input: {},
  result: 'archive-stats',
  run: async (_, { home }) => (await home()).archive.stats(),
})

export const archiveVerify = operation({
  name: 'archive.verify',
  does: 'reads',
  where: 'either',
  isHeavy: true,
  summary: 'Check the whole archive for damage',
  description:
    'Unpacks everything, verifies checksums, and compares the archive with the counts and with the logs that still exist. Changes nothing. Exits with 1 if something is damaged.',
  input: {},
  result: 'archive-check',
  run: async (_, { home }) => (await home()).archive.verify(),
})

export const archivePrune = operation({
  name: 'archive.prune',
  does: 'acts',
  where: 'either',
  isHeavy: true,
  summary: 'Remove what the settings no longer keep',
  description:
    'Removes only logs that their tools have deleted, oldest first, according to [archive] in config.toml: max_age (such as "365d"), max_size (such as "2GB"). Without --yes nothing is removed. Removed text is gone for good, also from search; its cost stays known.',
  input: { yes: flag('Remove it') },
  result: 'archive-pruning',
  run: async ({ yes }, { home }) => (await home()).archive.prune({ dryRun: !yes }),
})
