import { BudgetBook, type Standing, standings } from '../../lifecycle/index.js'
import {
  type Amount,
  amountText,
  BUDGET_PERIODS,
  type Budget,
  type BudgetPeriod,
  type BudgetTarget,
  budgetKey,
  isAmount,
  parseAmount,
  parseGroupPath,
  SkeinError,
} from '../../model/index.js'
import type { OperationContext } from '../context.js'
import { flag, optional, type Values } from '../field.js'
import { agentRef, choice, groupRef, type Kind, text } from '../kind.js'
import { operation } from '../operation.js'
import { usageError } from '../usage-error.js'

/** A budget and how it stands. */
export interface BudgetStanding {
  target: BudgetTarget['kind']
  name: string
  per: BudgetPeriod
  soft_micro_usd?: number
  soft_tokens?: number
  hard_micro_usd?: number
  hard_tokens?: number
  /** `total`, or the local day. */
  period: string
  spent_micro_usd: number
  spent_tokens: number
  unpriced_calls: number
  unpriced_tokens: number
  state: Standing['state']
  set_at: string
  set_by: string
}

export interface Budgets {
  budgets: BudgetStanding[]
}

/** Money or tokens. */
const amount: Kind<Amount> = {
  placeholder: '<amount>',
  schema: {
    anyOf: [
      { type: 'string', description: 'Such as 5usd or 200ktok' },
      ...['micro_usd', 'tokens'].map((name) => ({
        type: 'object',
        properties: { [name]: { type: 'integer', minimum: 1 } },
        required: [name],
      })),
    ],
  },
  parse: (given) => {
    const parsed = parseAmount(given)
    if (parsed) return parsed
    throw new SkeinError('usage', `${JSON.stringify(given)} is not an amount`, 'Write it like 5usd, 0.50usd or 200ktok')
  },
  sent: (value) => (isAmount(value) ? value : undefined),
}

const TARGET = {
  agent: optional(agentRef, 'Address, unique suffix, title, id, or . for the current directory'),
  group: optional(groupRef, 'For all agents in this group or below together', { aliases: ['rig'] }),
  work: optional(text('id'), 'For all sessions on this unit of work together'),
  all: flag('For everything together'),
}
const PER = optional(choice('period', BUDGET_PERIODS), 'Whether it counts from midnight, or from the beginning', {
  fallback: 'total',
})

export const budgetSet = operation({
  name: 'budget.set',
  does: 'acts',
  where: 'either',
  summary: 'Limit what an agent, a group or a unit of work may spend',
  description:
    'At the soft limit you are warned once: an event, a mail and a notification. At the hard limit the daemon stops its agents, each at the end of its turn; prompts and starts are refused until the budget is raised or cleared. Amounts are money (5usd) or tokens (200ktok). What was spent comes from the logs, so [daemon] ingest must be on; calls without a known price count only as tokens. A new budget replaces the one for the same target and period.',
  input: {
    ...TARGET,
    per: PER,
    soft: optional(amount, 'Warn at this amount'),
    hard: optional(amount, 'Stop at this amount'),
  },
  result: 'budgets',
  async run({ soft, hard, per = 'total', ...named }, context): Promise<Budgets> {
    if (!soft && !hard) throw usageError('Missing --soft or --hard', 'Give at least one, such as --hard 5usd')
    const isMixed = soft && hard && 'tokens' in soft !== 'tokens' in hard
    if (isMixed) throw usageError('--soft and --hard measure different things', 'Give both in usd, or both in tokens')
    if (soft && hard && sizeOf(soft) > sizeOf(hard))
      throw usageError(`--soft ${amountText(soft)} is above --hard ${amountText(hard)}`, 'Give a lower --soft')
    const home = await context.home()
    const target = await targetOf(named, context)
    const limits = { ...(soft ? { soft } : {}), ...(hard ? { hard } : {}) }
    const line = budgetLine(await nameIn(context, target), { per, ...limits })
    const event = await home.events.append({ type: 'budget_set', payload: { target, per, ...limits, budget: line } })
    await new BudgetBook(home).set({ target, per, ...limits, set_at: event.ts, set_by: event.actor })
    return standingsOf(context, (one) => one.per === per && budgetKey(one.target) === budgetKey(target))
  },
})

export const budgetShow = operation({
  name: 'budget.show',
  does: 'reads',
  where: 'either',
  summary: 'Show budgets and what was spent of them',
  description: 'All budgets, or those for one target.',
  input: TARGET,
  result: 'budgets',
  async run(named, context): Promise<Budgets> {
    if (!isNamed(named)) return standingsOf(context, () => true)
    const key = budgetKey(await targetOf(named, context))
    return standingsOf(context, ({ target }) => budgetKey(target) === key)
  },
})

export const budgetClear = operation({
  name: 'budget.clear',
  does: 'acts',
  where: 'either',
  summary: 'Remove a budget',
  description: 'Its agents may be started and given prompts again. Both periods, unless one is named.',
  input: { ...TARGET, per: optional(choice('period', BUDGET_PERIODS), 'Only the budget for this period') },
  result: 'budgets',
  async run({ per, ...named }, context): Promise<Budgets> {
    const home = await context.home()
    const target = await targetOf(named, context)
    const key = budgetKey(target)
    const isMeant = (one: Budget): boolean => budgetKey(one.target) === key && (per === undefined || one.per === per)
    const { budgets } = await standingsOf(context, isMeant)
    const cleared = await new BudgetBook(home).clear(isMeant)
    if (cleared.length === 0)
      throw new SkeinError(
        'bad-input',
        `There is no budget for ${await nameIn(context, target)}`,
        'See: skein budget show',
      )
    const name = await nameIn(context, target)
    for (const one of cleared) {
      const budget = budgetLine(name, one)
      await home.events.append({ type: 'budget_cleared', payload: { target, per: one.per, budget } })
    }
    return { budgets }
  },
})

type Named = Values<typeof TARGET>

const isNamed = ({ agent, group, work, all }: Named): boolean =>
  all || [agent, group, work].some((one) => one !== undefined)

/** Exactly one, and one that exists: a budget for a mistyped name would limit nothing. */
async function targetOf({ agent, group, work, all }: Named, { home }: OperationContext): Promise<BudgetTarget> {
  const given = [agent, group, work].filter((one) => one !== undefined).length + (all ? 1 : 0)
  if (given !== 1) {
    const what =
      given === 0 ? 'Missing <agent>, --group, --work or --all' : 'Name one of agent, --group, --work and --all'
    throw usageError(what, 'Usage: skein budget set <agent> --hard 5usd')
  }
  const { roster, work: units } = await home()
  if (agent !== undefined) return { kind: 'agent', id: (await roster.agent(agent)).id }
  if (work !== undefined) return { kind: 'work', id: (await units.show(work)).id }
  if (group === undefined) return { kind: 'all' }
  const path = parseGroupPath(group)
  if ((await roster.groups()).some((one) => one.path === path)) return { kind: 'group', path }
  throw new SkeinError('group-not-found', `No group ${path}`, 'See: skein group list')
}

/** As its user calls it. */
async function nameIn({ home }: OperationContext, target: BudgetTarget): Promise<string> {
  if (target.kind === 'all') return 'everything'
  if (target.kind === 'group') return `group ${target.path}`
  if (target.kind === 'work') return `work ${target.id}`
  return `agent ${(await (await home()).roster.agent(target.id)).address}`
}

async function standingsOf({ home }: OperationContext, isWanted: (budget: Budget) => boolean): Promise<Budgets> {
  const found = await standings({ home: await home() }, isWanted)
  return { budgets: found.map(documentOf).sort((a, b) => (a.name < b.name ? -1 : 1)) }
}

function documentOf({ budget, spent, state, name }: Standing): BudgetStanding {
  const { target, per, soft, hard, set_at, set_by } = budget
  return {
    target: target.kind,
    name,
    per,
    ...(soft ? limit('soft', soft) : {}),
    ...(hard ? limit('hard', hard) : {}),
    period: spent.period,
    spent_micro_usd: spent.micro_usd,
    spent_tokens: spent.tokens,
    unpriced_calls: spent.unpriced_calls,
    unpriced_tokens: spent.unpriced_tokens,
    state,
    set_at,
    set_by,
  }
}

const limit = (name: 'soft' | 'hard', given: Amount): Record<string, number> =>
  'tokens' in given ? { [`${name}_tokens`]: given.tokens } : { [`${name}_micro_usd`]: given.micro_usd }

const sizeOf = (given: Amount): number => ('tokens' in given ? given.tokens : given.micro_usd)

/** Whose it is by the name that it has now: the target, with its id, is beside it in the event. */
function budgetLine(name: string, { per, soft, hard }: Pick<Budget, 'per' | 'soft' | 'hard'>): string {
  const limits = [soft && `warn at ${amountText(soft)}`, hard && `stop at ${amountText(hard)}`].filter(Boolean)
  return `${name}, ${limits.join(', ')}${per === 'day' ? ' a day' : ''}`
}
