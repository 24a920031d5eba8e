import { readSettings } from '../../home/index.js'
import { type AgentView, parseRecoverSettings, type RecoveryReceipt } from '../../lifecycle/index.js'
import type { OperationContext } from '../context.js'
import { duration } from '../duration.js'
import { type ErrorFacts, errorFacts } from '../error-facts.js'
import { flag, optional, type Values } from '../field.js'
import { operation } from '../operation.js'
import { present } from '../present.js'
import { usageError } from '../usage-error.js'
import { MANY_AGENTS } from './selection.js'

/** What became of one agent, as every face shows it. */
export interface RecoveryLine {
  agent: AgentView
  outcome: RecoveryReceipt['outcome']
  session_id?: string
  fell?: RecoveryReceipt['fell']
  reason: string
  error?: ErrorFacts
}

export interface Recovery {
  dry_run: boolean
  receipts: RecoveryLine[]
}

export const SPACING = optional(duration, 'Time between two starts', {
  fallback: '[recover] spacing in config.toml, or 2s',
})

const RECOVER = {
  agents: MANY_AGENTS.agents,
  group: MANY_AGENTS.group,
  all: flag('Also agents that the watchdog has parked'),
  dry_run: flag('Print what would be done, and start nothing'),
  spacing: SPACING,
}

export const agentsRecover = operation({
  name: 'agents.recover',
  does: 'acts',
  where: 'either',
  summary: 'Bring back agents that went down',
  description:
    'For after a reboot, a dead tmux server or a crash. Every agent that was up comes back in its own conversation, with the arguments, permissions, variables and directory it had. Agents that you stopped, or that exited by themselves, stay stopped. One receipt per agent: resumed, fresh (a new conversation) or refused, and why. A refused agent keeps its conversation; exit code 1 if there is one.',
  input: RECOVER,
  result: 'recovery',
  async run(given, context): Promise<Recovery> {
    return recoverAgents(given, context)
  },
})

/** The same, with each line as it is done. */
export async function recoverAgents(
  { agents: references, group, all, dry_run: dryRun, spacing }: Values<typeof RECOVER>,
  context: OperationContext,
  {
    tell,
    signal = context.abandoned(),
    isUp = false,
  }: { tell?: (line: RecoveryLine) => void; signal?: AbortSignal; isUp?: boolean } = {},
): Promise<Recovery> {
  if (references.length > 0 && (group !== undefined || all)) {
    throw usageError('Agent names cannot be combined with --group or --all', 'Leave out one of them')
  }
  const { configFile } = context
  const spacingMs = spacing ?? parseRecoverSettings(await readSettings(configFile), configFile).spacingMs
  const receipts = await (await context.agents()).recover({
    agents: references,
    ...present({ group }),
    all,
    isUp,
    dryRun,
    spacingMs,
    signal,
    ...(tell ? { tell: (one) => tell(lineOf(one)) } : {}),
  })
  return { dry_run: dryRun, receipts: receipts.map(lineOf) }
}

const lineOf = ({ agent, outcome, session_id, fell, reason, error }: RecoveryReceipt): RecoveryLine => ({
  agent,
  outcome,
  ...(session_id === undefined ? {} : { session_id }),
  ...(fell ? { fell } : {}),
  reason,
  ...(error ? { error: errorFacts(error) } : {}),
})
