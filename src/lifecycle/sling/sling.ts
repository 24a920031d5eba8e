import { join } from 'node:path'
import { knownUnits } from '../../home/index.js'
import {
  type Agent,
  type AgentAddress,
  type GroupPath,
  isHooked,
  isWithin,
  parseAddress,
  parseAgentId,
  type Roles,
  SkeinError,
  type WorkUnit,
} from '../../model/index.js'
import { type AgentRun, liveRun } from '../agent-run.js'
import type { SlingRequest } from '../agents.js'
import { nowOf, type Parts, pause } from '../parts.js'
import { spawn, startAgent } from '../run/start.js'
import type { StartStepName } from '../run/start-steps.js'
import { kill } from '../run/stop.js'
import { observe } from '../status/observe.js'
import { keepPrompt } from '../talk/pending-prompt.js'
import { groupNamed, parked, refuseMore } from './admission.js'
import { assignment, settleCutSlings } from './cut-sling.js'
import { recordSling, type SlingMarker, setMarker } from './marker.js'
import { Git, isClean, prepareWorktree, type ReadyWorktree, undoWorktree } from './worktree.js'

/** A program that has not come up by then is taken back with everything else. */
const READY_MS = 30_000
const LOOK_MS = 250
/** For agents that nobody named. */
const NAMES = [
  ...['ash', 'birch', 'cedar', 'elm', 'fir', 'hazel', 'juniper', 'larch', 'maple', 'oak', 'pine', 'rowan'],
  ...[
    'spruce',
    'tamarack',
    'willow',
    'yew',
    'alder',
    'aspen',
    'beech',
    'cypress',
    'hemlock',
    'laurel',
    'linden',
    'poplar',
  ],
]

export interface Slung {
  agent: Agent
  work: WorkUnit
  worktree: ReadyWorktree | undefined
  /** The agent was made for it. */
  isNew: boolean
}

/** For tests that kill the process there. */
type Reached = (step: 'chosen' | 'marked' | 'hooked' | 'ready' | StartStepName) => void

/**
 * Gives a unit of work to an agent of a group that has nothing to do, or to a new one. In two phases: everything is prepared and the unit
 * is on the hook before the program starts. Its first prompt, which tells it to begin, is kept for whoever looks next. What fails is undone: the program, the hook, the agent and the worktree. A sling that was killed is finished or undone by whoever looks next.
 */
export async function sling(
  parts: Parts,
  request: SlingRequest,
  unmake: (agent: Agent) => Promise<unknown>,
  reached: Reached = () => {},
): Promise<Slung> {
  const undo: (() => Promise<unknown>)[] = []
  const held: Disposable[] = []
  try {
    const { marker, ...slung } = await give(parts, request, { undo, unmake, held, reached })
    const { agent } = slung
    undo.push(() => kill(parts, agent)) // also when the start fails half-way
    const { beacon } = await startAgent(parts, { agent: agent.address, work: marker.work, onStep: reached })
    await untilReady(parts, agent)
    reached('ready')
    await keepPrompt(parts, agent, beacon ?? (await assignment(parts, agent)))
    await recordSling(parts, agent, marker)
    await setMarker(parts, agent, undefined)
    return slung
  } catch (error) {
    for (const step of undo.reverse()) {
      await step().catch((failed: Error) => parts.context.warn(`Not undone: ${failed.message}`))
    }
    throw error
  } finally {
    for (const one of held) one[Symbol.dispose]()
  }
}

interface Giving {
  undo: (() => Promise<unknown>)[]
  unmake: (agent: Agent) => Promise<unknown>
  /** Released when all is over. */
  held: Disposable[]
  reached: Reached
}

/** The first phase: which agent gets it, where it works, and the unit on its hook. One sling at a time chooses. */
async function give(
  parts: Parts,
  request: SlingRequest,
  { undo, unmake, held, reached }: Giving,
): Promise<Slung & { marker: SlingMarker }> {
  const { home, runs } = parts
  const group = request.group as GroupPath
  using _choosing = await runs.holdSling()
  await settleCutSlings(parts)
  const unit = await workFor(parts, request.work)
  await admit(parts, group)
  const roles = await home.programs.roles()
  const role = request.role ?? (roles.find('polecat') ? 'polecat' : 'worker')
  const git = new Git(parts.environment.env)
  const search = { ...request, group, role, roles, unit, git, undo, unmake }
  const { agent, isNew, worktree } = await agentFor(parts, search)
  reached('chosen')
  held.push(await runs.hold(agent.id, 'sling', 0))
  const facts = { work: unit.id, group, role, is_new: isNew, at: nowOf(parts) }
  const marker: SlingMarker = { ...facts, ...(worktree ? { worktree } : {}) }
  await setMarker(parts, agent, marker)
  undo.push(() => setMarker(parts, agent, undefined))
  reached('marked')
  const work = await home.work.hook(unit.id, agent)
  undo.push(() => home.work.unhook(unit.id))
  reached('hooked')
  return { agent, work, worktree, isNew, marker }
}

/** The unit, from a provider that works. */
async function workFor({ home: { work }, runs }: Parts, id: string): Promise<WorkUnit> {
  const health = await work.health()
  if (!health.ok) throw new SkeinError('work-provider', health.because, health.next)
  const unit = await work.show(id)
  if (unit.status === 'done') throw new SkeinError('illegal-transition', `Work ${unit.id} is done`, 'Add another unit')
  if (!isHooked(unit)) return unit
  const isAtIt = unit.agent_id !== undefined && liveRun(await runs.read(unit.agent_id)) !== undefined
  const look = isAtIt ? `It runs: skein attach ${unit.agent}` : `Start that agent: skein start --agent ${unit.agent}`
  const next = `${look} , or take it off: skein work unhook ${unit.id}`
  throw new SkeinError('work-taken', `${unit.id} is on the hook of ${unit.agent}`, next)
}

async function admit(parts: Parts, path: GroupPath): Promise<void> {
  const groups = await parts.home.roster.groups()
  groupNamed(groups, path)
  const stopped = groups.find((one) => one.parked !== undefined && isWithin(path, one.path))
  if (stopped) throw parked(stopped)
  const { limit, leastFree } = await parts.home.programs.admission(path)
  const agents = new Set((await parts.home.roster.agents({ group: path })).map(({ id }) => id))
  const isOne = (run: AgentRun): boolean => liveRun(run) !== undefined || run.sling !== undefined // or is about to run
  const running = (await parts.runs.all()).filter((run) => agents.has(run.agent) && isOne(run)).length
  refuseMore(path, { limit, running, leastFree, free: process.availableMemory() })
}

interface Search extends SlingRequest {
  group: GroupPath
  role: string
  roles: Roles
  unit: WorkUnit
  git: Git
  undo: (() => Promise<unknown>)[]
  unmake: (agent: Agent) => Promise<unknown>
}

interface Found {
  agent: Agent
  isNew: boolean
  worktree: ReadyWorktree | undefined
}

/** An agent of the role that does not run, has nothing on its hook and nothing uncommitted; else a new one. */
async function agentFor(parts: Parts, search: Search): Promise<Found> {
  const { home, runs } = parts
  const repository = await repositoryFor(parts, search)
  for (const agent of await home.roster.agents({ group: search.group, role: search.role })) {
    const run = await runs.read(agent.id)
    const hooked = await home.work.hooked(agent)
    const held = knownUnits(hooked).length + hooked.mail.length
    const cwd = run?.recipe.cwd ?? agent.project_path
    const isIdle = liveRun(run) === undefined && run?.archived_at === undefined && held === 0
    if (!isIdle || cwd === undefined) continue
    const isWhole = (await search.git.run(cwd, 'rev-parse', '--show-toplevel')) !== undefined
    if (isWhole && !(await isClean(search.git, cwd))) continue
    const worktree =
      repository === undefined || cwd === repository ? undefined : await treeFor(parts, search, repository, cwd)
    return { agent, isNew: false, worktree }
  }
  return newAgent(parts, search, repository)
}

async function newAgent(parts: Parts, search: Search, repository: string | undefined): Promise<Found> {
  const { group, role, roles, tool, undo, unmake } = search
  const taken = new Set((await parts.home.roster.agents()).map(({ address }) => address))
  for (const name of namesToTry()) {
    const { address, cwd } = namesOf(roles, role, group, name)
    if (taken.has(address)) continue
    const place = cwd ?? (repository === undefined ? undefined : join(`${repository}.worktrees`, name))
    if (place === undefined || repository === undefined) throw noPlace(group)
    const worktree = await treeFor(parts, search, repository, place)
    try {
      const known = roles.find(role)
      const program = tool ?? known?.tool
      const options = { agent: address, cwd: place, role, ...(program ? { tool: program } : {}) }
      const agent = await spawn(parts, options, parseAgentId(parts.context.random.uuid()))
      undo.push(() => unmake(agent))
      return { agent, isNew: true, worktree }
    } catch (error) {
      // Another sling took the name meanwhile.
      if (!(error instanceof SkeinError && error.code === 'agent-exists')) throw error
      await undoWorktree(search.git, worktree)
    }
  }
  throw new SkeinError('group-full', `No name is left for another ${role} in ${group}`, 'Remove agents that are done')
}

async function treeFor(
  parts: Parts,
  { git, unit, undo }: Search,
  repository: string,
  directory: string,
): Promise<ReadyWorktree> {
  const branch = (await git.run(directory, 'symbolic-ref', '--quiet', '--short', 'HEAD')) ?? `skein/${unit.id}`
  const tree = { repository, directory, branch: directory === repository ? branch : `skein/${unit.id}` }
  const ready = await prepareWorktree(git, tree, parts.context.clock.now())
  undo.push(() => undoWorktree(git, ready))
  return ready
}

/** As it is named, as the settings say, or the one that the group's agents work in. */
async function repositoryFor({ home }: Parts, { repo, group, git }: Search): Promise<string | undefined> {
  const agents = await home.roster.agents({ group })
  const places = [
    repo,
    (await home.programs.admission(group)).repository,
    ...agents.map(({ project_path }) => project_path),
  ]
  for (const place of places) {
    if (place === undefined) continue
    const common = await git.run(place, 'rev-parse', '--path-format=absolute', '--git-common-dir')
    if (common !== undefined) return common.replace(/\/\.git$/, '')
    if (place === repo)
      throw new SkeinError('bad-input', `${place} is in no git repository`, 'Name another: --repo <directory>')
  }
  return undefined
}

function namesOf(roles: Roles, role: string, group: GroupPath, name: string): { address: AgentAddress; cwd?: string } {
  if (!roles.find(role)) return { address: parseAddress(`${group}/${name}`) }
  const names = roles.format({ role, group, name })
  return { address: parseAddress(names.address), ...(names.cwd === undefined ? {} : { cwd: names.cwd }) }
}

function* namesToTry(): Generator<string> {
  yield* NAMES
  for (let n = 2; n < 100; n += 1) for (const name of NAMES) yield `${name}-${n}`
}

/** Until its program shows what it does. One that ends, or shows nothing in time, has failed. */
async function untilReady(parts: Parts, agent: Agent): Promise<void> {
  const until = performance.now() + READY_MS
  for (;;) {
    const [seen] = await observe(parts, new Set([agent.id]))
    const status = seen?.run?.status
    if (status?.status === 'stopped' || status?.status === 'error') {
      throw new SkeinError(
        'agent-died',
        `${agent.address} did not come up: ${status.reason ?? status.status}`,
        'Everything was undone',
      )
    }
    if (status !== undefined && status.status !== 'starting') return
    if (performance.now() > until) break
    await pause(LOOK_MS)
  }
  throw new SkeinError(
    'timed-out',
    `${agent.address} was not ready within ${READY_MS / 1_000} s`,
    'Everything was undone',
  )
}

const noPlace = (group: GroupPath): SkeinError =>
  new SkeinError(
    'bad-input',
    `No repository is known for the group ${group}`,
    `Name one: --repo <directory> , or set repository of [groups."${group}"] in config.toml`,
  )
