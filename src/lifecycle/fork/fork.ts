import { dirname, join } from 'node:path'
import { isThere, makeDirectory, realPath } from '../../disk/index.js'
import {
  type Agent,
  parseAddress,
  parseSessionId,
  type SessionId,
  SkeinError,
  splitAddress,
} from '../../model/index.js'
import { hasWriter, writerOf } from '../../tools/index.js'
import { nowOf, type Parts, runnerOf } from '../parts.js'
import { givenEnv } from '../run/given-env.js'
import { spawn, start } from '../run/start.js'
import { refuseParked } from '../sling/admission.js'
import { Git } from '../sling/worktree.js'
import type { Observed } from '../status/observe.js'
import { type ForkedConversation, forkConversation } from './fork-conversation.js'
import { type ForkNote, ForkNotes, undoFork } from './fork-note.js'
import { type ForkPlan, type ForkRequest, placeBelow, planFork } from './fork-plan.js'
import { runSetup } from './setup-command.js'
import { type Included, includeIgnored } from './worktree-include.js'

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
  included: Included
  setup?: string
}

/**
 * Makes an agent of its own from a past turn: a worktree with the files of that turn, the conversation cut there, and a program that goes on
 * with it. The source is only read. What fails is undone, and what was cut off is taken back by the next fork.
 */
export async function fork(parts: Parts, request: ForkRequest): Promise<Forked[]> {
  if (!Number.isInteger(request.count) || request.count < 1 || request.count > MOST_FORKS)
    throw new SkeinError('bad-input', `${request.count} is no number of forks`, `Use 1 to ${MOST_FORKS}`)
  if (!request.code && !request.chat)
    throw new SkeinError('bad-input', 'A fork has files or a conversation', 'Use one of --code-only and --chat-only')
  await new ForkNotes(parts).sweep()
  const plan = await planFork(parts, request)
  const made: Forked[] = []
  for (let nth = 1; nth <= request.count; nth += 1) made.push(await forkOne(parts, plan, nth))
  return made
}

async function forkOne(parts: Parts, plan: ForkPlan, nth: number): Promise<Forked> {
  const { home, context } = parts
  const { request, session: source, recipe, snapshot, kept } = plan
  const notes = new ForkNotes(parts)
  const id = context.random.uuid()
  const wanted = hasWriter(recipe.tool) ? writerOf(recipe.tool).newId(id) : parseSessionId(id)
  const address = await addressFor(parts, plan, nth)
  await refuseParked(home, address)
  const note: ForkNote = notes.begin(id)
  try {
    const tree = snapshot && (await restoreTree(parts, plan, { notes, note, id, name: nameOf(request, nth) }))
    const cwd = realPath(tree ? tree.cwd : plan.cwd)
    const setup = tree && (await runSetup(parts, cwd))
    const agent = await newAgent(parts, plan, { address, cwd })
    note.agent = agent.id
    note.session = wanted
    notes.write(note)
    const turn = kept.at(-1)?.number
    const { chooseId } = runnerOf(parts, recipe.tool).can
    const binds = chooseId === 'flag' || chooseId === 'seed'
    const origin = { session: source.id, ...(turn === undefined ? {} : { turn }) }
    const facts = { agent: agent.address, tool: recipe.tool, cwd, ...(source.title ? { title: source.title } : {}) }
    // Before there is a log of it, which a reader of logs would take for a session that it has found.
    if (binds) await home.sessions.start({ id: wanted, ...facts, forked_from: origin })
    const conversation = await forkConversation(parts, plan, { session: wanted, cwd }, (files) => {
      note.files = [...files]
      notes.write(note)
    })
    if (binds) await bind(parts, agent, wanted)
    const started = await start(parts, agent)
    if (!binds && started.session)
      await home.sessions.start({ id: started.session, ...facts, forked_from: origin, mayExist: true })
    notes.forget(id)
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
      included: tree?.included ?? { files: 0, left: [] },
      ...(setup ? { setup } : {}),
    }
  } catch (error) {
    await undoFork(parts, note).catch((failed: Error) => context.warn(`Not undone: ${failed.message}`))
    notes.forget(id)
    throw error
  }
}

interface Tree {
  directory: string
  cwd: string
  branch?: string
  missing: { path: string; reason: string }[]
  included: Included
}

async function restoreTree(
  parts: Parts,
  { snapshot, cwd }: ForkPlan,
  { notes, note, id, name }: { notes: ForkNotes; note: ForkNote; id: string; name: string | undefined },
): Promise<Tree> {
  if (!snapshot) throw new Error('no snapshot to restore')
  const git = new Git(parts.environment.env)
  const isGit = snapshot.git_directory !== undefined
  const common = isGit
    ? await git.run(snapshot.root, 'rev-parse', '--path-format=absolute', '--git-common-dir')
    : undefined
  const repository = common ?? (snapshot.git_directory ? commonOf(snapshot.git_directory) : undefined)
  const short = id.slice(0, 8)
  const base = repository ? repository.replace(/\/\.git$/, '') : snapshot.root
  const directory = join(`${base}.worktrees`, isGit ? (name ?? short) : short)
  if (isThere(directory))
    throw new SkeinError('bad-input', `${directory} is already there`, 'Choose another name: --name <name>')
  const branch = isGit ? (name ?? `skein/session/${short}`) : undefined
  makeDirectory(dirname(directory))
  Object.assign(note, {
    directory,
    ...(repository ? { repository } : {}),
    ...(branch ? { branch } : {}),
    ...(snapshot.head ? { head: snapshot.head } : {}),
  })
  notes.write(note)
  const restored = await parts.home.snapshots.restore(snapshot, { path: directory, ...(branch ? { branch } : {}) })
  const included =
    isGit && isThere(snapshot.root) ? await includeIgnored(git, snapshot.root, directory) : { files: 0, left: [] }
  return {
    directory,
    cwd: placed(placeBelow(directory, snapshot.root, cwd), directory),
    ...(restored.branch ? { branch: restored.branch } : {}),
    missing: restored.missing,
    included,
  }
}

/** The directory that the source worked in may have been made after the turn. */
const placed = (cwd: string, directory: string): string => (isThere(cwd) ? cwd : directory)

const commonOf = (gitDirectory: string): string => gitDirectory.replace(/\/worktrees\/[^/]+$/, '')

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
    throw new SkeinError('agent-exists', `There is an agent ${address} already`, 'Choose another name: --name <name>')
  }
  for (let n = 1; ; n += 1) {
    const address = within(`${name}-fork${n === 1 ? '' : `-${n}`}`)
    if (!taken.has(address)) return parseAddress(address)
  }
}

async function newAgent(
  parts: Parts,
  { agent: source, recipe, session }: ForkPlan,
  { address, cwd }: { address: string; cwd: string },
): Promise<Agent> {
  const { tool, model, args, mcp, dangerous, account } = recipe
  const env = source && recipe.env_names ? givenEnv(parts, source, recipe) : {}
  return spawn(parts, {
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
    ...(session.title ? { title: session.title } : {}),
  })
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
