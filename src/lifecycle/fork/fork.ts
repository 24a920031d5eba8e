import { realPath } from '../../disk/index.js'
import {
  type Agent,
  type AgentId,
  groupLineage,
  parseAddress,
  parseAgentId,
  parseSessionId,
  type SessionId,
  SkeinError,
  splitAddress,
} from '../../model/index.js'
import { hasWriter, writerOf } from '../../tools/index.js'
import { nowOf, type Parts, runnerOf } from '../parts.js'
import { givenEnv } from '../run/given-env.js'
import { agentExists, spawn, start } from '../run/start.js'
import { refuseParked } from '../sling/admission.js'
import type { Observed } from '../status/observe.js'
import { noteWorktree } from '../turns/start-branch.js'
import { type ForkedConversation, forkConversation } from './fork-conversation.js'
import { type ForkNote, ForkNotes } from './fork-note.js'
import { type ForkPlan, type ForkRequest, type ForkStep, planFork } from './fork-plan.js'
import { restoreTree } from './fork-tree.js'
import { runSetup } from './setup-command.js'
import { undoFork } from './undo-fork.js'
import type { Included } from './worktree-include.js'

const MOST_FORKS = 16

/** One fork that was made. */
export interface Forked {
  agent: Agent
  observed: Observed
  session: SessionId | undefined
  source: SessionId
  /** The last turn that it shares with the source. */
  turn: number | undefined
  conversation: ForkedConversation
  cwd: string
  worktree?: string
  branch?: string
  /** Files that the snapshot does not have. */
  missing: { path: string; reason: string }[]
  /** Files that changed before the snapshot had read them, and whether all that was there then is there now; with a worktree. */
  late: string[]
  isExact?: boolean
  included: Included
  setup?: string
}

/**
 * Makes an agent of its own from a past turn: a worktree with the files of that turn, the conversation cut there, and a program that goes on
 * with it. The source is only read. All forks of a request are made or none: what fails or is interrupted is undone, and what was killed is
 * taken back by the next command that opens the agents.
 */
export async function fork(parts: Parts, request: ForkRequest): Promise<Forked[]> {
  if (!Number.isInteger(request.count) || request.count < 1 || request.count > MOST_FORKS)
    throw new SkeinError('bad-input', `${request.count} is no number of forks`, `Use 1 to ${MOST_FORKS}`)
  if (!request.code && !request.chat)
    throw new SkeinError('bad-input', 'A fork has files or a conversation', 'Use one of --code-only and --chat-only')
  const notes = new ForkNotes(parts)
  await notes.sweep()
  const plan = await planFork(parts, request)
  const begun: ForkNote[] = []
  try {
    const made: Forked[] = []
    for (let nth = 1; nth <= request.count; nth += 1) {
      const note = notes.begin(parts.context.random.uuid())
      begun.push(note)
      made.push(await forkOne(parts, plan, { nth, note, write: () => notes.write(note) }))
    }
    for (const { id } of begun) notes.forget(id)
    return made
  } catch (error) {
    for (const note of begun.reverse()) {
      try {
        await undoFork(parts, note)
        notes.forget(note.id)
      } catch (failed) {
        parts.context.warn(`Not undone: ${failed instanceof Error ? failed.message : String(failed)}`)
      }
    }
    throw error
  }
}

interface Making {
  nth: number
  note: ForkNote
  /** Keeps the note before what it names is made. */
  write: () => void
}

async function forkOne(parts: Parts, plan: ForkPlan, { nth, note, write }: Making): Promise<Forked> {
  const { home } = parts
  const { request, session: source, recipe, snapshot, kept } = plan
  const { id } = note
  const step = (name: ForkStep): void => begin(request, name)
  const wanted = hasWriter(recipe.tool) ? writerOf(recipe.tool).newId(id) : parseSessionId(id)
  const address = await addressFor(parts, plan, nth)
  await refuseParked(home, address)
  step('worktree')
  const name = nameOf(request, nth)
  const tree = snapshot && (await restoreTree(parts, plan, { note, write, name }))
  const cwd = realPath(tree ? tree.cwd : plan.cwd)
  step('setup')
  const setup = tree && (await runSetup(parts, cwd, request.signal))
  step('agent')
  const agentId = parseAgentId(parts.context.random.uuid())
  const groups = await missingGroups(parts, address)
  Object.assign(note, { agent: agentId, groups, session: wanted, ...(tree ? { is_ready: true } : {}) })
  write()
  const agent = await newAgent(parts, plan, { id: agentId, nth, cwd })
  if (tree?.branch !== undefined) noteWorktree(parts, agent, { directory: tree.directory, branch: tree.branch })
  const turn = kept.at(-1)?.number
  const { chooseId } = runnerOf(parts, recipe.tool).can
  const binds = chooseId === 'flag' || chooseId === 'seed'
  const origin = { session: source.id, ...(turn === undefined ? {} : { turn }) }
  const facts = factsOf(plan, agent, cwd, tree?.branch)
  step('session')
  // Before there is a log of it, which a reader of logs would take for a session that it has found.
  if (binds) await home.sessions.start({ id: wanted, ...facts, forked_from: origin })
  step('conversation')
  const conversation = await forkConversation(parts, plan, { session: wanted, cwd }, (made) => {
    note.files.push(...(made.files ?? []))
    if (made.imported) note.imported = { ...made.imported, cwd }
    write()
  })
  step('bind')
  if (binds) await bind(parts, agent, wanted)
  step('start')
  const started = await start(parts, agent)
  step('record')
  if (!binds && started.session)
    await home.sessions.start({ id: started.session, ...facts, forked_from: origin, mayExist: true })
  step('end')
  return {
    agent,
    observed: started.observed,
    session: started.session,
    source: source.id,
    turn,
    conversation,
    cwd,
    ...(tree ? { worktree: tree.directory } : {}),
    ...(tree?.branch ? { branch: tree.branch } : {}),
    missing: tree?.missing ?? [],
    late: tree?.late ?? [],
    ...(tree ? { isExact: tree.isExact } : {}),
    included: tree?.included ?? { files: 0, left: [] },
    ...(setup ? { setup } : {}),
  }
}

function begin({ signal, onStep }: ForkRequest, step: ForkStep): void {
  if (signal?.aborted) throw new SkeinError('interrupted', 'The fork was interrupted', 'Nothing of it is left')
  onStep?.(step)
}

/** The branch is told because the copied lines name that of the source. */
const factsOf = (plan: ForkPlan, { address: agent }: Agent, cwd: string, branch: string | undefined) => ({
  agent,
  tool: plan.recipe.tool,
  cwd,
  ...titleOf(plan),
  ...(branch === undefined ? {} : { branch }),
})

/** That of the source is of a conversation that the fork may have nothing of. */
const titleOf = ({ request, kept, session: { title } }: ForkPlan): { title?: string } =>
  request.chat && kept.length > 0 && title ? { title } : {}

async function missingGroups({ home }: Parts, address: string): Promise<string[]> {
  const { group } = splitAddress(parseAddress(address))
  const there = new Set<string>((await home.roster.groups()).map(({ path }) => path))
  return group === undefined ? [] : groupLineage(group).filter((path) => !there.has(path))
}

const nameOf = ({ name }: ForkRequest, nth: number): string | undefined =>
  name === undefined || nth === 1 ? name : `${name}-${nth}`

/** As it is named, or after the agent of the source. */
async function addressFor({ home }: Parts, { request, agent, recipe }: ForkPlan, nth: number) {
  const taken = new Set<string>((await home.roster.agents()).map(({ address }) => address))
  const { group, name } = agent ? splitAddress(agent.address) : { group: undefined, name: recipe.tool }
  const within = (one: string): string => (group && !one.includes('/') ? `${group}/${one}` : one)
  const given = nameOf(request, nth)
  if (given !== undefined) {
    const address = parseAddress(within(given))
    if (!taken.has(address)) return address
    throw agentExists(address)
  }
  for (let n = 1; ; n += 1) {
    const address = within(`${name}-fork${n === 1 ? '' : `-${n}`}`)
    if (!taken.has(address)) return parseAddress(address)
  }
}

/** Under its address, or under the next one if another process takes that in the meantime and none was named. */
async function newAgent(
  parts: Parts,
  plan: ForkPlan,
  { id, nth, cwd }: { id: AgentId; nth: number; cwd: string },
): Promise<Agent> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await agentAt(parts, plan, { id, address: await addressFor(parts, plan, nth), cwd })
    } catch (error) {
      const isTaken = error instanceof SkeinError && error.code === 'agent-exists'
      if (!isTaken || plan.request.name !== undefined || attempt === MOST_FORKS) throw error
    }
  }
}

async function agentAt(
  parts: Parts,
  plan: ForkPlan,
  { id, address, cwd }: { id: AgentId; address: string; cwd: string },
): Promise<Agent> {
  const { agent: source, recipe } = plan
  const { tool, model, args, mcp, dangerous, account } = recipe
  const env = source && recipe.env_names ? givenEnv(parts, source, recipe) : {}
  const options = {
    agent: address,
    cwd,
    tool,
    ...(source?.command && source.tool === tool ? { command: source.command } : {}),
    ...(model ? { model } : {}),
    ...(args ? { args } : {}),
    ...(mcp ? { mcp } : {}),
    ...(dangerous ? { dangerous } : {}),
    ...(account ? { account } : {}),
    ...(Object.keys(env).length > 0 ? { env } : {}),
    ...titleOf(plan),
  }
  return spawn(parts, options, id)
}

/** The copy is this agent's, because Skein has made it under an id that it chose. */
async function bind(parts: Parts, agent: Agent, session: SessionId): Promise<void> {
  await parts.runs.update(agent, (current) => {
    if (!current) throw new Error(`agent ${agent.id} has no file`)
    const binding = { session, since: nowOf(parts), how: 'fork' as const, is_confirmed: false }
    const evidence = { how: 'fork', at: binding.since, made_by: 'skein' }
    const payload = { agent_id: agent.id, session, how: 'fork', evidence }
    return { next: { ...current, binding }, events: [{ type: 'identity_bind', session, payload }], result: undefined }
  })
}
