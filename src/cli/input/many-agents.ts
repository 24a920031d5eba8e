import type { AgentView, Receipt } from '../../lifecycle/index.js'
import { type Agent, SkeinError } from '../../model/index.js'
import { agentRef, flag, groupRef, optional, repeated, type Values } from '../../operations/index.js'
import type { Cli } from '../command.js'
import { type ErrorDocument, errorDocument, errorLine } from '../report-error.js'
import { usageError } from '../usage-error.js'
import { receiptView } from '../views/receipt-view.js'

/** Which agents a command that takes several is about. */
export const MANY_AGENTS = { agents: repeated(agentRef, 'Addresses, ends of them, titles, ids, or . for here') }
export const MANY_OPTIONS = {
  group: optional(groupRef, 'Every agent in this group or below', { aliases: ['rig'] }),
  all: flag('Every agent'),
}

/** The agents that are meant, and whether the command was given one agent by name. */
interface Selection {
  readonly agents: readonly Pick<Agent, 'id' | 'address'>[]
  readonly isOne: boolean
}

/**
 * Every name is looked up before anything is done, so that a mistyped one changes nothing. Of a group, or of all, those are
 * taken that `wants` says there is something to do for; archived ones never.
 */
export async function selectAgents(
  { agents: references, group, all }: Values<typeof MANY_AGENTS> & Values<typeof MANY_OPTIONS>,
  cli: Cli,
  { usage, wants }: { usage: string; wants: (agent: AgentView) => boolean },
): Promise<Selection> {
  const isNamed = references.length > 0
  if (isNamed && (group !== undefined || all)) {
    throw usageError('Agents are named, and a group or --all is given', 'Leave out one of them')
  }
  if (!isNamed && group === undefined && !all) {
    throw usageError('Missing <agents>', `Usage: ${usage} <agents...>, or --group <group>, or --all`)
  }
  if (!isNamed) {
    const found = await (await cli.agents()).list(group === undefined ? {} : { group })
    return { agents: found.filter(wants), isOne: false }
  }
  const { roster } = await cli.home()
  const named = new Map<string, Agent>()
  for (const reference of references) {
    const agent = await roster.agent(reference).catch(async (error) => {
      const isUnknown = error instanceof SkeinError && error.code === 'agent-not-found'
      if (!isUnknown || !(await roster.groups()).some(({ path }) => path === reference)) throw error
      throw new SkeinError('agent-not-found', `${reference} is a group`, `Write: ${usage} --group ${reference}`)
    })
    named.set(agent.id, agent)
  }
  return { agents: [...named.values()], isOne: references.length === 1 }
}

/** A program of it may run. */
export const isUp = ({ status }: AgentView): boolean => status !== 'stopped' && status !== 'asleep'

/** No program of it runs. */
export const isDown = (agent: AgentView): boolean =>
  !isUp(agent) || (agent.trouble !== undefined && ['dead-pane', 'exited', 'tmux-gone'].includes(agent.trouble))

/** What could not be done for one of several agents. */
interface Failure extends ErrorDocument {
  agent: string
}

/** Something to do for one agent. */
export interface Job<Done> {
  readonly agent: string
  run(): Promise<Done>
}

/** More at a time would make each of them slower: programs start, end and draw their screens. */
const AT_ONCE = 8

/**
 * Does all jobs, some at a time. Each is reported as it is done: `report` draws it on standard output, an error goes to
 * standard error. With --json the caller prints what is returned as one document.
 */
export async function doAll<Done>(
  jobs: readonly Job<Done>[],
  { out }: Cli,
  report: (done: Done) => string,
  atOnce = AT_ONCE,
): Promise<{ done: Done[]; failures?: Failure[] }> {
  const done: (Done | undefined)[] = []
  const failures: Failure[] = []
  await inParallel(jobs, atOnce, async ({ agent, run }, at) => {
    try {
      const one = await run()
      done[at] = one
      if (!out.json) out.text(report(one))
    } catch (error) {
      if (!(error instanceof SkeinError)) throw error
      failures.push({ agent, ...errorDocument(error) })
      if (!out.json) out.note(errorLine(error))
    }
  })
  if (failures.length > 0) out.fails()
  return { done: done.filter((one) => one !== undefined), ...(failures.length > 0 ? { failures } : {}) }
}

/** The same for what gives receipts, with its document. */
export async function answerWithReceipts<Done extends Receipt>(
  jobs: readonly Job<Done>[],
  cli: Cli,
  nothing: string,
): Promise<void> {
  const { done: receipts, ...rest } = await doAll(jobs, cli, receiptView)
  cli.out.result({ receipts, ...rest }, () => '')
  if (jobs.length === 0 && !cli.out.json) cli.out.note(nothing)
}

/** Runs `act` for every item, at most `limit` at a time. A bug in one is thrown when those under way have ended. */
async function inParallel<Item>(
  items: readonly Item[],
  limit: number,
  act: (item: Item, at: number) => Promise<void>,
): Promise<void> {
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < items.length) {
      const at = next++
      await act(items[at] as Item, at)
    }
  }
  const workers = await Promise.allSettled(Array.from({ length: Math.min(limit, items.length) }, worker))
  const failed = workers.find((one) => one.status === 'rejected')
  if (failed) throw failed.reason
}
