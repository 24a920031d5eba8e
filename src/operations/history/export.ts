import type { Home } from '../../home/index.js'
import type { Spent } from '../../index/index.js'
import { type ExportDocument, type ExportSource, exportDocument, markdownOf, pageOf } from '../../interchange/index.js'
import { instantOf, type Session, unreachable } from '../../model/index.js'
import type { OperationContext } from '../context.js'
import { defaulted, flag, type Values } from '../field.js'
import { jsonDocument } from '../json-text.js'
import { choice } from '../kind.js'
import { operation } from '../operation.js'
import { REFERENCE } from '../sessions/chain.js'
import { onlyStep, STEP } from './only-step.js'
import { sessionsNamed } from './sessions-named.js'

const FORMATS = ['md', 'html', 'json'] as const
/** The same by its whole name. */
const MARKDOWN = 'markdown'

export const exportSessions = operation({
  name: 'export',
  does: 'reads',
  where: 'either',
  isHeavy: true,
  summary: 'Export a session as one file to read or share',
  description:
    'Applies the privacy policy of the session’s directory again and redacts secrets everywhere. The HTML file is self-contained: open it from disk. It renders the Markdown of replies, loads no images and contains no HTML from the session. Models without a known price are named beside the cost.',
  input: {
    reference: REFERENCE,
    format: defaulted(choice('format', [...FORMATS, MARKDOWN] as const), 'md', 'What to write'),
    chain: flag('The whole chain that a session belongs to'),
    step: STEP,
  },
  result: 'export-report',
  async run(input, context) {
    const { report, written } = await exported(input, context)
    return { ...report, document: written }
  },
})

/** What was exported, in numbers, as a document, and as it is written. */
export interface Exported {
  readonly report: ReturnType<typeof reportOf>
  readonly document: ExportDocument
  readonly written: string
}

export async function exported(
  { reference, format: named, chain, step }: Values<typeof exportSessions.input>,
  context: OperationContext,
): Promise<Exported> {
  const format = named === MARKDOWN ? 'md' : named
  const home = await context.home()
  const document = await documentOf(home, ofStep(await sessionsNamed(home, reference, chain), step), context, step)
  return { report: reportOf(document, format), document, written: inFormat(document, format) }
}

/** Sessions as one document, filtered by the policy of the directory that each of them worked in. */
export async function documentOf(
  home: Home,
  sessions: readonly Session[],
  context: Pick<OperationContext, 'nowMs' | 'cwd'>,
  step?: string,
): Promise<ExportDocument> {
  const sources = await exportSources(home, sessions, context, step)
  return exportDocument(sources, { at: instantOf(context.nowMs), prices: await home.history.prices() })
}

const reportOf = (document: ExportDocument, format: (typeof FORMATS)[number]) => ({
  format,
  sessions: document.sessions.map((one) => one.session.id),
  turns: document.sessions.reduce((sum, one) => sum + one.turns.length, 0),
  redactions: document.redactions,
})

function inFormat(document: ExportDocument, format: (typeof FORMATS)[number]): string {
  switch (format) {
    case 'md':
      return markdownOf(document)
    case 'html':
      return pageOf(document)
    case 'json':
      return `${jsonDocument(document)}\n`
    default:
      return unreachable(format)
  }
}

/** Of several sessions those that did the step; a single one is asked for it, and says which steps it has. */
export const ofStep = (sessions: readonly Session[], step: string | undefined): readonly Session[] => {
  if (step === undefined || sessions.length < 2) return sessions
  const did = sessions.filter(({ steps = [] }) => steps.some(({ step_ref }) => step_ref === step))
  return did.length > 0 ? did : sessions.slice(0, 1)
}

/** Each session's turns with the policy that holds where it worked, or where the caller is if that is not known. */
async function exportSources(
  { history, privacy, directory }: Home,
  sessions: readonly Session[],
  context: Pick<OperationContext, 'cwd'>,
  step: string | undefined,
): Promise<ExportSource[]> {
  const sources: ExportSource[] = []
  const costs = await history.spent(sessions.map((session) => session.id))
  for (const session of sessions) {
    const policy = await privacy.policyAt(session.cwd ?? context.cwd ?? directory)
    const spent = costs.get(session.id)
    // The export filters it, and counts what it leaves out.
    const turns = onlyStep(await history.turns(session.id, { verbatim: true, readsNew: true }), step)
    sources.push({ history: turns, policy, ...(spent ? { spent: onlyCost(spent) } : {}) })
  }
  return sources
}

const onlyCost = ({ calls, micro_usd, unpriced_calls }: Spent): NonNullable<ExportSource['spent']> => ({
  calls,
  micro_usd,
  unpriced_calls,
})
