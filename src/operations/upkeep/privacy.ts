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
    'Secrets are redacted in every tier; the tier redacted also hides variables, named values and long base64.',
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
    'A policy applies to what is read after it changed. This applies it to what was read before: logs that still exist are read again from their beginning; for the others, the stored text is filtered again, which can only remove more. May be interrupted; run it again to finish.',
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
    'Adds up the events in which skein ingest recorded how often each rule was applied, one per session and run. They never contain a value; skein events config shows how long they are kept.',
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
    'Erases a text, a path or a session from the journal, records, roster, archive, indexes, conversations and every other file of the home, in all profiles, and keeps it out of later ingests. Without --yes it only reports where it is. Afterwards it reads every byte of the home again and exits with 1 if something is left. It does not change the tools’ own logs, but lists those that contain it.',
  input: {
    pattern: optional(text('regex'), 'Erase what matches this regular expression; it is stored as typed'),
    path: optional(text('glob'), 'Erase paths that match this glob, and tool calls on them'),
    session: optional(sessionRef, 'Erase this session; its cost stays'),
    secret: optional(
      freeText('text'),
      'This text; also in base64, hex and other spellings. Only a salted hash of it is kept',
    ),
    resume: flag('Finish a purge that was interrupted'),
    accept: flag('Finish although something is left'),
    dry_run: flag('Change nothing; the default without --yes'),
    yes: flag('Do it'),
  },
  result: 'purge',
  async run({ pattern, path: glob, session, secret, resume, accept, dry_run, yes }, { home }) {
    if (dry_run && yes) throw usageError('--dry-run and --yes cannot be combined', 'Use only one of them')
    const isDry = resume ? dry_run : !yes
    const what = present({ pattern, path: glob, session, secret })
    return (await home()).privacy.purge({ ...what, resume, accept, dryRun: isDry })
  },
})
