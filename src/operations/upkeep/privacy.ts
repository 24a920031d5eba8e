import { loadPolicy, policyReport, redact, redactAsCommand } from '../../privacy/index.js'
import { defaulted, flag, optional, required } from '../field.js'
import { choice, freeText, path, sessionRef, text, when } from '../kind.js'
import { operation } from '../operation.js'
import { present } from '../present.js'
import { usageError } from '../usage-error.js'

export const privacyCheck = operation({
  name: 'privacy.check',
  does: 'reads',
  where: 'either',
  summary: 'Show which policy applies in a directory',
  description:
    'A project’s .skein/privacy.yaml or .gastown/privacy.yaml, in this directory or above it, can make your own policy stricter, not looser.',
  input: {
    tool: optional(text('tool'), 'Only this tool'),
    directory: required(path('directory', 'directory'), 'Where'),
  },
  result: 'privacy-policy',
  async run({ tool, directory }, { home, privacyFile }) {
    const policy = await loadPolicy({ userFile: privacyFile, directory })
    const report = policyReport(policy, tool === undefined ? undefined : [tool])
    return { ...report, stored: await (await home()).privacy.stored() }
  },
})

export const privacyTest = operation({
  name: 'privacy.test',
  does: 'reads',
  where: 'either',
  summary: 'Show what would be kept of a text',
  description:
    'Secrets are taken out in every tier; the tier redacted also hides variables, named values and long base64.',
  input: {
    text: required(freeText('text'), 'The text'),
    tier: defaulted(choice('tier', ['full', 'redacted']), 'full', 'Whose rules'),
  },
  result: 'redaction',
  async run({ text: given, tier }) {
    const kept = tier === 'redacted' ? redactAsCommand(given) : redact(given)
    return { text: kept.text, rules: kept.applied }
  },
})

export const privacyApply = operation({
  name: 'privacy.apply',
  does: 'acts',
  where: 'either',
  isHeavy: true,
  summary: 'Apply the current policy to what is stored',
  description:
    'A policy counts for what is read from then on. This applies it to what was read before: logs that still exist are read again from their beginning, of the others what is stored is filtered again, which can only take away. May be interrupted; running it again does the rest.',
  input: { dry_run: flag('Change nothing') },
  result: 'policy-application',
  run: async ({ dry_run: dryRun }, { home }) => (await home()).privacy.apply({ dryRun }),
})

export const privacyAudit = operation({
  name: 'privacy.audit',
  does: 'reads',
  where: 'either',
  summary: 'Count what was redacted',
  description:
    'Adds up the events in which skein ingest noted which rule was applied how often, one per session and run. They never hold a value, and are kept as long as other events of their kind: skein events config.',
  input: {
    session: optional(sessionRef, 'Only this session'),
    since: optional(when, 'Only what was filtered since then: 1h, 7d, today, yesterday, 2026-01-17 or a full time'),
  },
  result: 'redaction-totals',
  async run({ session, since }, { home }) {
    const { privacy, sessions } = await home()
    const id = session === undefined ? undefined : (await sessions.find(session)).id
    return privacy.audit(present({ session: id, since }))
  },
})

export const purge = operation({
  name: 'purge',
  does: 'acts',
  where: 'either',
  isHeavy: true,
  summary: 'Erase a secret, a path or a session everywhere',
  description:
    'Removes a text, a path or a session from the journal, records, roster, archive, indexes, conversations and every other file of the home, in all profiles, and keeps it out of later ingests. Without --yes it only says where it is. Afterwards every byte of the home is read once more; the exit code is 1 when something is left. The tools’ own logs are not changed: it says which of them hold it.',
  input: {
    pattern: optional(text('regex'), 'What fits this regular expression. It is kept as typed'),
    path: optional(text('glob'), 'Paths that fit this glob, and calls of tools on them'),
    session: optional(sessionRef, 'This session; what it spent stays'),
    secret: optional(
      freeText('text'),
      'This text; also in base64, hex and other spellings. Only a salted hash of it is kept',
    ),
    resume: flag('Finish a purge that was interrupted'),
    accept: flag('Be done with it although something is left'),
    dry_run: flag('Change nothing; the default without --yes'),
    yes: flag('Do it'),
  },
  result: 'purge',
  async run({ pattern, path: glob, session, secret, resume, accept, dry_run, yes }, { home }) {
    if (dry_run && yes) throw usageError('--dry-run and --yes do not go together', 'Give one of the two')
    const isDry = resume ? dry_run : !yes
    const what = present({ pattern, path: glob, session, secret })
    return (await home()).privacy.purge({ ...what, resume, accept, dryRun: isDry })
  },
})
