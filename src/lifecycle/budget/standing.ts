import type { Home } from '../../home/index.js'
import {
  type Agent,
  amountText,
  type Budget,
  type BudgetSpent,
  type BudgetState,
  type BudgetTarget,
  budgetState,
  isWithin,
  parseGroupPath,
  SkeinError,
  spentText,
} from '../../model/index.js'
import type { AgentRun } from '../agent-run.js'
import type { Parts } from '../parts.js'
import { BudgetBook } from './budget-book.js'

/** A budget with what was spent of it, as far as logs were ingested. */
export interface Standing {
  budget: Budget
  spent: BudgetSpent
  state: BudgetState
  /** The agent's address, the group's path, the unit's id, or `all`. */
  name: string
}

/** How every budget stands. One read of the ledger each. */
export async function standings(
  { home }: Pick<Parts, 'home'>,
  isWanted: (budget: Budget) => boolean = () => true,
): Promise<Standing[]> {
  const budgets = new BudgetBook(home).read().filter(isWanted)
  if (budgets.length === 0) return []
  const agents = await home.roster.agents()
  const all = await Promise.all(
    budgets.map(async (budget) => {
      const name = nameOf(budget.target, agents)
      if (name === undefined) return [] // its agent was removed, or the name of its group erased
      const spent = await home.history.spentWithin(scopeOf(budget.target, name), budget.per === 'day')
      return [{ budget, spent, state: budgetState(budget, spent), name }]
    }),
  )
  return all.flat()
}

function nameOf(target: BudgetTarget, agents: readonly Agent[]): string | undefined {
  switch (target.kind) {
    case 'agent':
      return agents.find(({ id }) => id === target.id)?.address
    case 'group':
      return isGroup(target.path) ? target.path : undefined
    case 'work':
      return target.id
    case 'all':
      return 'all'
  }
}

function isGroup(path: string): boolean {
  try {
    return parseGroupPath(path) !== undefined
  } catch (error) {
    if (error instanceof SkeinError) return false
    throw error
  }
}

function scopeOf(target: BudgetTarget, name: string): { agent?: string; group?: string; work?: string } {
  return target.kind === 'all' ? {} : { [target.kind]: name }
}

/** Whether what an agent does now is charged to a budget. */
export function isCharged({ target }: Budget, agent: Agent, run: AgentRun | undefined, work?: string | null): boolean {
  switch (target.kind) {
    case 'agent':
      return target.id === agent.id
    case 'group':
      return isGroup(target.path) && isWithin(agent.address, parseGroupPath(target.path))
    case 'work':
      return target.id === (run?.recipe.work ?? work)
    case 'all':
      return true
  }
}

/** The first budget of an agent that is used up. */
export async function usedUp(parts: Pick<Parts, 'home' | 'runs'>, agent: Agent): Promise<Standing | undefined> {
  const book = new BudgetBook(parts.home)
  if (book.isEmpty) return undefined
  const run = await parts.runs.read(agent.id)
  const work = await workOf(parts.home, run)
  const own = await standings(parts, (budget) => budget.hard !== undefined && isCharged(budget, agent, run, work))
  return own.find(({ state }) => state === 'hard')
}

/** The unit of work of the session that an agent is in. */
export const workOf = async (home: Home, run: AgentRun | undefined): Promise<string | undefined> =>
  run?.binding && (await home.sessions.get(run.binding.session))?.work_unit

/** Neither a prompt nor a start is for an agent whose budget is used up. Says how to raise it. */
export async function refuseUsedUp(parts: Pick<Parts, 'home' | 'runs'>, agent: Agent): Promise<void> {
  const standing = await usedUp(parts, agent)
  if (!standing) return
  throw new SkeinError('budget-used-up', `${agent.address}: ${usedUpLine(standing)}`, raising(standing))
}

/** `the budget of group web is used up: $5.02 of $5.00 today`. */
export function usedUpLine({ budget, spent, name }: Standing): string {
  const { hard, per, target } = budget
  const whose = target.kind === 'all' ? 'everything' : `${target.kind} ${name}`
  const limit = hard ? ` of ${amountText(hard)}` : ''
  return `the budget of ${whose} is used up: ${spentText(spent, hard)}${limit}${per === 'day' ? ' today' : ''}`
}

function raising({ budget: { target, per }, name }: Standing): string {
  const which = { agent: name, group: `--group ${name}`, work: `--work ${name}`, all: '--all' }[target.kind]
  const daily = per === 'day' ? ' --per day' : ''
  return `Raise it: skein budget set ${which}${daily} --hard <amount> , or remove it: skein budget clear ${which}${daily}`
}
