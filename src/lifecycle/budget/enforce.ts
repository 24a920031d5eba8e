import { type Agent, amountText, SkeinError, spentText } from '../../model/index.js'
import { type AgentRun, liveRun } from '../agent-run.js'
import type { Parts } from '../parts.js'
import { askedOf } from '../run/asked-end.js'
import { stop } from '../run/stop.js'
import { activityOf } from '../status/evidence.js'
import { observe } from '../status/observe.js'
import { BudgetBook } from './budget-book.js'
import { isCharged, type Standing, standings, usedUpLine, workOf } from './standing.js'

/** What a round has done, for the daemon's log and for its user. */
export interface Enforced {
  kind: 'warned' | 'stopped'
  agent: string
  line: string
}

/**
 * Warns once per period about every budget whose soft limit is reached, and stops the agents of those that are used up, each when no turn
 * of it goes on.
 */
export async function enforceBudgets(parts: Parts, runs: readonly AgentRun[]): Promise<Enforced[]> {
  const book = new BudgetBook(parts.home)
  if (book.isEmpty) return []
  const reached = (await standings(parts)).filter(({ state }) => state !== 'within')
  if (reached.length === 0) return []
  const done: Enforced[] = []
  for (const standing of reached) {
    const { budget, spent } = standing
    if (budget.soft && budget.warned !== spent.period && (await book.warned(budget, spent.period)))
      done.push(await warn(parts, standing))
  }
  const used = reached.filter(({ state }) => state === 'hard')
  const roster = new Map((await parts.home.roster.agents()).map((agent) => [agent.id, agent]))
  for (const run of used.length === 0 ? [] : runs.filter((one) => isBetweenTurns(parts, one))) {
    const agent = roster.get(run.agent)
    const work = agent && (await workOf(parts.home, run))
    const standing = agent && used.find(({ budget }) => isCharged(budget, agent, run, work))
    const stopped = agent && standing && (await stopFor(parts, agent, standing))
    if (stopped) done.push(stopped)
  }
  return done
}

/** A question in the middle of a turn is not its end. */
const isBetweenTurns = ({ context }: Parts, run: AgentRun): boolean => {
  const activity = activityOf(run.status)
  const live = liveRun(run)
  const isAsked = live !== undefined && askedOf(live, context.clock.now()) !== undefined
  return live !== undefined && !isAsked && (activity === 'quiet' || activity === 'failed')
}

async function warn({ home }: Parts, { budget, spent, name }: Standing): Promise<Enforced> {
  const { soft, hard, target, per, set_by } = budget
  const whose = target.kind === 'all' ? 'everything' : `${target.kind} ${name}`
  const limits = [soft && `warning at ${amountText(soft)}`, hard && `stop at ${amountText(hard)}`].filter(Boolean)
  const line = `${whose} has spent ${spentText(spent, soft)}${per === 'day' ? ' today' : ''} (${limits.join(', ')})`
  const agent = target.kind === 'agent' ? { agent: name as Agent['address'] } : {}
  await home.events.append({ type: 'budget_warned', ...agent, payload: { target, per, spent, reason: line } })
  const mail = { to: { address: set_by as Agent['address'] }, subject: `Budget: ${whose}`, body: line }
  // Mail that is kept elsewhere may not be reachable: the event and the notice say the same.
  await home.work.send(mail).catch((error: unknown) => {
    if (!(error instanceof SkeinError)) throw error
  })
  return { kind: 'warned', agent: target.kind === 'agent' ? name : whose, line }
}

async function stopFor(parts: Parts, agent: Agent, standing: Standing): Promise<Enforced | undefined> {
  // It may have been given a prompt by hand since: then it is stopped at the end of that turn.
  const [seen] = await observe(parts, new Set([agent.id]))
  if (!seen?.run || seen.verdict?.isPassing || !isBetweenTurns(parts, seen.run)) return undefined
  const line = usedUpLine(standing)
  await stop(parts, agent, { because: line })
  const { target, per } = standing.budget
  await parts.home.events.append({
    type: 'budget_used_up',
    agent: agent.address,
    payload: { agent_id: agent.id, target, per, spent: standing.spent, reason: line },
  })
  return { kind: 'stopped', agent: agent.address, line }
}
