import { relative, resolve } from 'node:path'
import type { Snapshot } from '../../home/index.js'
import { type Agent, containerOf, type Session, SkeinError } from '../../model/index.js'
import {
  type CutPoint,
  foldSession,
  keptTurns,
  LOG_TOOLS,
  type LoggedTurn,
  type LogRef,
  type LogTool,
} from '../../tools/index.js'
import type { AgentRun, Recipe } from '../agent-run.js'
import { type Parts, runnerOf } from '../parts.js'
import { environmentFor } from '../run/account.js'
import { TurnBranches } from '../turns/turn-branch.js'
import { nothingSaid } from './nothing-said.js'

export interface ForkRequest {
  /** A session, or an agent: the one it is in. */
  source: string
  /** As `skein turns` numbers them. */
  turn: number
  edge: CutPoint['edge']
  /** Restore the files of that turn in a worktree of its own; without it the fork works where the source does. */
  code: boolean
  /** Carry the conversation over; without it a new one begins. */
  chat: boolean
  /** The program that goes on; the source's own by default. */
  tool?: string
  /** Of the agent, the worktree and the branch. */
  name?: string
  /** How many forks of the same turn. */
  count: number
  prompt?: string
  /** Undoes the fork when it is aborted. */
  signal?: AbortSignal
  /** Called before each step; what it throws fails that step, and the fork is undone. */
  onStep?: (step: ForkStep) => void
}

export type ForkStep = 'worktree' | 'setup' | 'agent' | 'session' | 'conversation' | 'bind' | 'start' | 'record' | 'end'

/** Everything that decides a fork. Nothing has been changed. */
export interface ForkPlan {
  request: ForkRequest
  session: Session
  /** The agent whose session it is, and how it runs. */
  agent: Agent | undefined
  recipe: Recipe
  /** Where the source works. */
  cwd: string
  log: { tool: LogTool; ref: LogRef } | undefined
  /** The turns that are carried over, oldest first, as the source numbers them. */
  kept: LoggedTurn[]
  /** The files, and where the session worked that they are of: the source, or what it is itself a fork of. */
  snapshot: Snapshot | undefined
  at: string
}

/** Finds what is to be forked, and refuses what cannot be. */
export async function planFork(parts: Parts, request: ForkRequest): Promise<ForkPlan> {
  const { home } = parts
  const session = await home.sessions.find(request.source)
  const { agent, run } = await holderOf(parts, session)
  const source = session.tool ?? run?.recipe.tool
  if (source === undefined) throw refused(session, 'has no tool in its record', 'Fork another session')
  const cwd = session.cwd ?? run?.recipe.cwd
  if (cwd === undefined) throw refused(session, 'has no directory in its record', 'Fork another session')
  const tool = request.tool ?? source
  runnerOf(parts, tool)
  const recipe = recipeFor(tool, cwd, run?.recipe)
  const { log, turns } = await saidIn(parts, session, logOf(parts, session, source, run))
  const kept = keptTurns({ turns }, request)
  refuseRunning(run, turns, request)
  const found = request.code ? await snapshotFor(parts, session, request) : undefined
  const at = found?.of.cwd ?? cwd
  return { request, session, agent, recipe, cwd, log, kept, snapshot: found?.snapshot, at }
}

async function holderOf(
  { home, runs }: Parts,
  { id, agent_id }: Session,
): Promise<{ agent: Agent | undefined; run: AgentRun | undefined }> {
  const agents = await home.roster.agents()
  const run = (await runs.all()).find(({ binding }) => binding?.session === id)
  const agent = agents.find((one) => one.id === (run?.agent ?? agent_id))
  return { agent, run: run && agents.some((one) => one.id === run.agent) ? run : undefined }
}

/** With the rights and settings of the source where the tool is the same; another tool has others. */
function recipeFor(tool: string, cwd: string, recipe: Recipe | undefined): Recipe {
  if (recipe?.tool !== tool) return { tool, cwd }
  const { model, args, mcp, dangerous, account, env_names } = recipe
  return {
    tool,
    cwd,
    ...(model ? { model } : {}),
    ...(args ? { args } : {}),
    ...(mcp ? { mcp } : {}),
    ...(dangerous ? { dangerous } : {}),
    ...(account ? { account } : {}),
    ...(env_names ? { env_names } : {}),
  }
}

/** The source's own log, by the place that its program named, or by looking for it. */
function logOf(
  parts: Parts,
  { id }: Session,
  name: string,
  run: AgentRun | undefined,
): { tool: LogTool; ref: LogRef } | undefined {
  const tool = LOG_TOOLS.find((one) => one.name === name)
  if (!tool) return undefined
  const told = run?.binding?.session === id && run.binding.log ? tool.logAt(run.binding.log, id) : undefined
  const environment = run?.recipe.tool === name ? environmentFor(parts, run.recipe) : parts.environment
  const isIts = (log: LogRef): boolean =>
    log.agent === undefined && (log.session === undefined ? tool.identify(log).id === id : log.session === id)
  const found = told && isIts(told) ? [told] : tool.discover(environment).filter(isIts)
  // A resume may leave an empty file beside the log.
  const ref = found.sort((a, b) => b.size - a.size)[0]
  return ref && { tool, ref }
}

/** What was said, by the source's log, or by the archive where the log is gone or refers to one that is. */
async function saidIn(
  { home }: Parts,
  session: Session,
  log: ForkPlan['log'],
): Promise<Pick<ForkPlan, 'log'> & { turns: LoggedTurn[] }> {
  if (log && !log.tool.lacksHistory?.(log.ref)) return { log, turns: foldSession([log.tool.read(log.ref)]).turns }
  const { turns, told_from } = await home.history.turns(session.id)
  if (!log && turns.length === 0 && session.ended_at !== undefined) throw nothingSaid(session, told_from)
  if (!log || told_from === 'archive') return { log: undefined, turns }
  const what = 'is a fork, and the log of the session that it comes from is gone'
  throw new SkeinError('session-not-found', `Session ${session.id} ${what}`, 'Fork a session that has its log')
}

/** What a program has not written yet is in no copy. */
function refuseRunning(run: AgentRun | undefined, turns: readonly LoggedTurn[], { turn, edge }: CutPoint): void {
  const isLast = turns.at(-1)?.number === turn
  if (edge === 'before' || !isLast || run?.status.status !== 'running' || run.run?.ended_at !== undefined) return
  const next = 'Wait until it is done, fork before its prompt (--before), or fork an earlier turn'
  throw new SkeinError('turn-open', `Turn ${turn} is still running`, next)
}

interface TakenFor {
  snapshot: Snapshot
  of: Session
}

/** The files at the cut. Never those of another moment. */
async function snapshotFor(parts: Parts, session: Session, { turn, edge }: CutPoint): Promise<TakenFor> {
  const coded = await parts.home.history.codedTurns(session.id, { readsNew: true })
  const found = coded.find((one) => one.turn === turn)?.[edge]
  if (found) return { snapshot: found, of: session }
  const origin = await originSnapshot(parts, session, turn, edge)
  if (origin) return origin
  const when = edge === 'after' ? 'the end' : 'the prompt'
  const have = coded.filter((one) => one[edge]).map((one) => one.turn)
  const known = have.length === 0 ? 'It has no snapshots' : `It has those of ${shortList(have)}`
  const next = `${known}. Fork the conversation alone, in the directory as it is: --chat-only`
  throw new SkeinError('snapshot-not-found', `There is no snapshot of the files at ${when} of turn ${turn}`, next)
}

/** The first turns of a fork are those of its origin, and so are their files. */
async function originSnapshot(
  parts: Parts,
  session: Session,
  turn: number,
  edge: CutPoint['edge'],
): Promise<TakenFor | undefined> {
  const origin = await sameInOrigin(parts, session, turn)
  if (!origin) return undefined
  const { source, turn: same } = origin
  const coded = (await parts.home.history.codedTurns(source.id)).find((one) => one.turn === same)
  const snapshot = coded?.[edge]
  return snapshot ? { snapshot, of: source } : originSnapshot(parts, source, same, edge)
}

/** The turn of the session that a fork was made of, as that one counts. */
async function sameInOrigin(
  { home }: Parts,
  { forked_from: origin }: Session,
  turn: number,
): Promise<{ source: Session; turn: number } | undefined> {
  if (origin?.turn === undefined) return undefined
  const source = await home.sessions.get(origin.session)
  if (!source) return undefined
  const { turns } = await home.history.turns(source.id)
  const same = keptTurns({ turns }, { turn: origin.turn, edge: 'after' })[turn - 1]?.number
  return same === undefined ? undefined : { source, turn: same }
}

/** With `turns.commit`: the commit of the last turn that is carried over, which the fork's branch then begins at. */
export async function turnCommitFor(
  parts: Parts,
  { agent, session, kept, snapshot }: ForkPlan,
): Promise<string | undefined> {
  const { home } = parts
  const { branch } = (agent && new TurnBranches(home.paths.agents).of(agent.id)) ?? {}
  if (!agent || branch === undefined || !snapshot) return undefined
  if (!(await home.programs.turns(containerOf(agent.address))).commit) return undefined
  const last = kept.at(-1)?.number
  let at = last === undefined ? undefined : { source: session, turn: last }
  for (; at; at = await sameInOrigin(parts, at.source, at.turn)) {
    const name = { session: at.source.id, turn: at.turn }
    const commit = await home.snapshots.findTurn(snapshot.root, branch, name)
    if (commit !== undefined) return commit
  }
  return undefined
}

const shortList = (turns: readonly number[]): string =>
  turns.length > 8 ? `${turns.slice(0, 8).join(', ')}, …` : turns.join(', ')

/** The same place below another root. */
export function placeBelow(root: string, from: string, cwd: string): string {
  const within = relative(from, cwd)
  return within.startsWith('..') ? root : resolve(root, within)
}

const refused = ({ id }: Session, what: string, next: string): SkeinError =>
  new SkeinError('illegal-transition', `Session ${id} ${what}`, next)
