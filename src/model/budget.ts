import { grouped, money } from './money.js'
import { type Check, isObject, misfit, shape, text, time } from './shape.js'
import type { Instant } from './time.js'

/** What a budget is about: one agent (by its id), a group and all below it, a unit of work, or everything. */
export type BudgetTarget =
  | { kind: 'agent'; id: string }
  | { kind: 'group'; path: string }
  | { kind: 'work'; id: string }
  | { kind: 'all' }

/** Money in millionths of a dollar, or tokens of all kinds together. */
export type Amount = { micro_usd: number } | { tokens: number }

export const BUDGET_PERIODS = ['total', 'day'] as const
export type BudgetPeriod = (typeof BUDGET_PERIODS)[number]

/** How much may be spent: at `soft` its user is warned, at `hard` agents are stopped at the end of their turn. */
export interface Budget {
  target: BudgetTarget
  per: BudgetPeriod
  soft?: Amount
  hard?: Amount
  set_at: Instant
  set_by: string
  /** The period in which its user was last warned (`total`, or a day): once each. */
  warned?: string
}

/** What was spent within a budget. */
export interface BudgetSpent {
  /** `total`, or the local day: `2026-01-17`. */
  period: string
  micro_usd: number
  tokens: number
  /** Calls without a known price, and their tokens: they are not in `micro_usd`. */
  unpriced_calls: number
  unpriced_tokens: number
}

export type BudgetState = 'within' | 'soft' | 'hard'

export function budgetState({ soft, hard }: Pick<Budget, 'soft' | 'hard'>, spent: BudgetSpent): BudgetState {
  if (hard && isReached(hard, spent)) return 'hard'
  return soft && isReached(soft, spent) ? 'soft' : 'within'
}

const isReached = (amount: Amount, { micro_usd, tokens }: BudgetSpent): boolean =>
  'tokens' in amount ? tokens >= amount.tokens : micro_usd >= amount.micro_usd

/** `5usd`, `$5.50`, `200ktok`, `2.5Mtokens`, `150000 tokens`; undefined for anything else, also for a bare number. */
export function parseAmount(written: string): Amount | undefined {
  const [, dollars, usd] = /^(?:\$(\d{1,9}(?:\.\d{1,6})?)|(\d{1,9}(?:\.\d{1,6})?) ?usd)$/i.exec(written) ?? []
  const given = dollars ?? usd
  if (given !== undefined) return above({ micro_usd: Math.round(Number(given) * 1_000_000) })
  const [, count, unit = ''] = /^(\d{1,12}(?:\.\d{1,3})?) ?([km]?) ?tok(?:ens?)?$/i.exec(written) ?? []
  if (count === undefined) return undefined
  const times = { k: 1_000, m: 1_000_000 }[unit.toLowerCase()] ?? 1
  return above({ tokens: Math.round(Number(count) * times) })
}

const above = (amount: Amount): Amount | undefined =>
  ('tokens' in amount ? amount.tokens : amount.micro_usd) > 0 ? amount : undefined

export const amountText = (amount: Amount): string =>
  'tokens' in amount ? `${grouped(amount.tokens)} tokens` : money({ ...amount, unpriced_calls: 0 })

/** What was spent, in the measure of a limit. Tokens without a price are named: they cost something. */
export function spentText(spent: BudgetSpent, measure: Amount | undefined): string {
  if (measure && 'tokens' in measure) return `${grouped(spent.tokens)} tokens`
  const rest = spent.unpriced_calls === 0 ? '' : ` + ${grouped(spent.unpriced_tokens)} tokens without a known price`
  return money({ micro_usd: spent.micro_usd, unpriced_calls: 0 }) + rest
}

/** The same target and period: there is at most one budget for both. */
export const isSameBudget = (a: Pick<Budget, 'target' | 'per'>, b: Pick<Budget, 'target' | 'per'>): boolean =>
  a.per === b.per && budgetKey(a.target) === budgetKey(b.target)

export function budgetKey(target: BudgetTarget): string {
  switch (target.kind) {
    case 'agent':
    case 'work':
      return `${target.kind} ${target.id}`
    case 'group':
      return `group ${target.path}`
    case 'all':
      return 'all'
  }
}

const isPositive: Check = (value) => Number.isSafeInteger(value) && Number(value) > 0
export const isAmount = (value: unknown): value is Amount =>
  isObject(value) && (value.tokens === undefined ? isPositive(value.micro_usd) : isPositive(value.tokens))
const isTarget: Check = (value) =>
  isObject(value) &&
  (value.kind === 'all' ||
    (value.kind === 'group' && text(value.path)) ||
    ((value.kind === 'agent' || value.kind === 'work') && text(value.id)))
const BUDGET = shape({
  target: isTarget,
  per: (value) => BUDGET_PERIODS.includes(value as BudgetPeriod),
  'soft?': isAmount,
  'hard?': isAmount,
  set_at: time,
  set_by: text,
  'warned?': text,
})

export const isBudget = (value: unknown): value is Budget => isObject(value) && misfit(value, BUDGET) === undefined
