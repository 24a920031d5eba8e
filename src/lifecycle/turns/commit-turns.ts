import type { Home, Snapshot } from '../../home/index.js'
import {
  type Agent,
  type AgentId,
  containerOf,
  type Instant,
  instantOf,
  msOf,
  plainLine,
  type SessionId,
  SkeinError,
} from '../../model/index.js'
import { type TurnBranch, TurnBranches, type TurnPush } from './turn-branch.js'

/** A program may write the turn to its log after it has reported the end. */
const LOG_WAITS_MS = [0, 200, 1_000, 3_000]
const MOST_SUMMARY = 72

export const branchNameOf = (id: string): string => `skein/session/${id.slice(0, 8)}`

/** Commits the turns of a session that are over, each by its own snapshot, on the branch of its agent. */
export async function commitTurns(home: Home, agentId: AgentId, session: SessionId, now: () => number): Promise<void> {
  const agent = (await home.roster.agents()).find(({ id }) => id === agentId)
  if (!agent) return
  const branches = new TurnBranches(home.paths.agents)
  const { commit: isOn } = await home.programs.turns(containerOf(agent.address))
  const ends = (await home.snapshots.list(session)).filter(({ moment }) => moment === 'stop')
  const last = ends.at(-1)
  if (!last) return
  if (!isOn) return branches.update(agentId, (branch) => passed(branch, last))
  if (last.git_directory === undefined) return
  const branch = branches.of(agentId) ?? (await lateBranch(home, branches, agent, ends))
  const from = branch.done[session] ?? 0
  for (const end of ends.filter(({ seq, as_of }) => seq > from && as_of >= branch.since)) {
    try {
      await commitEnd(home, branches, agent, end)
    } catch (error) {
      if (!(error instanceof SkeinError)) throw error
      const problem = { at: instantOf(now()), reason: error.message }
      // A snapshot that lacks files is never committed; the rest is tried again with the next turn.
      const isLost = end.mode === 'partial' || end.skipped_count > end.skipped.length
      branches.update(agentId, (one) => ({ ...(isLost ? passed(one, end) : one), problem }))
      if (!isLost) return
    }
  }
}

const passed = (branch: TurnBranch, { session, seq }: Snapshot): TurnBranch => ({
  ...branch,
  done: { ...branch.done, [session]: seq },
})

/** The mode was switched on while the agent ran: its branch begins with this turn. */
async function lateBranch(
  home: Home,
  branches: TurnBranches,
  agent: Agent,
  ends: readonly Snapshot[],
): Promise<TurnBranch> {
  const last = ends.at(-1) as Snapshot
  const { branch } = await home.snapshots.makeBranch(last.root, branchNameOf(agent.id))
  const before = ends.at(-2)
  const made: TurnBranch = {
    v: 1,
    branch,
    directory: last.root,
    since: last.as_of as Instant,
    done: before ? { [last.session]: before.seq } : {},
    turns: 0,
  }
  branches.write(agent.id, made)
  return made
}

async function commitEnd(home: Home, branches: TurnBranches, agent: Agent, end: Snapshot): Promise<void> {
  const { branch, worktree } = branches.of(agent.id) ?? {}
  if (branch === undefined) return
  const { number, prompt, before } = await turnOf(home, end)
  const summary = plainLine((prompt ?? '').trim().split('\n', 1)[0] ?? '', MOST_SUMMARY)
  const message = [
    `Turn ${number}${summary === '' ? '' : `: ${summary}`}`,
    '',
    `Skein-Session: ${end.session}`,
    `Skein-Turn: ${number}`,
    `Skein-Agent: ${agent.address}`,
  ].join('\n')
  const { commit } = await home.snapshots.commitTurn({ snapshot: end, before, branch, message, worktree })
  branches.update(agent.id, ({ problem: _solved, ...one }) => ({
    ...passed(one, end),
    directory: end.root,
    turns: one.turns + 1,
    commit,
  }))
}

/** Its number in `skein turns` and its filtered prompt; a program without a log has its turns counted. */
async function turnOf(home: Home, end: Snapshot): Promise<{ number: number; prompt?: string; before?: Snapshot }> {
  for (const wait of LOG_WAITS_MS) {
    await new Promise((resolve) => setTimeout(resolve, wait))
    const [history, coded] = await Promise.all([
      home.history.turns(end.session).catch(() => undefined),
      home.history.codedTurns(end.session).catch(() => []),
    ])
    const own = coded.find(({ after }) => after?.seq === end.seq)
    const turn = history?.turns.find(({ number }) => number === own?.turn)
    if (own && turn) return { number: own.turn, prompt: turn.prompt, ...(own.before ? { before: own.before } : {}) }
    // Its log may not have been read yet.
    if (!own) await home.history.ingest({ session: end.session }).catch(() => undefined)
  }
  const all = await home.snapshots.list(end.session)
  const before = all.findLast(({ moment, seq }) => moment === 'prompt' && seq < end.seq)
  const number = all.filter(({ moment, seq }) => moment === 'stop' && seq <= end.seq).length
  return { number, ...(before ? { before } : {}) }
}

/** The longest that a push may take. */
const PUSH_MS = 120_000
const BACKOFF_MS = [10_000, 30_000, 120_000, 600_000, 1_800_000]

/** Pushes an agent's branch if the remote lacks its last commit. Returns when to try again. */
export async function pushTurns(home: Home, agentId: AgentId, now: () => number): Promise<Instant | undefined> {
  const agent = (await home.roster.agents()).find(({ id }) => id === agentId)
  const branches = new TurnBranches(home.paths.agents)
  const branch = branches.of(agentId)
  if (!agent || branch?.commit === undefined) return undefined
  const { commit: isOn, push: remote } = await home.programs.turns(containerOf(agent.address))
  if (!isOn || remote === undefined) return undefined
  const { push: before } = branch
  const isDone = before?.remote === remote && before.outcome === 'pushed' && before.commit === branch.commit
  if (isDone) return undefined
  if (before?.remote === remote && before.next_at !== undefined && msOf(before.next_at) > now()) return before.next_at
  const { env } = await home.programs.environment()
  const { directory, branch: name } = branch
  const end = await home.snapshots.pushBranch({ directory, branch: name, remote, env, limitMs: PUSH_MS })
  const tries = end.outcome === 'pushed' ? 0 : (before?.remote === remote ? before.tries : 0) + 1
  const waitMs = BACKOFF_MS[Math.min(tries, BACKOFF_MS.length) - 1]
  const kept = end.outcome === 'pushed' ? end.commit : before?.commit
  const push: TurnPush = {
    remote,
    outcome: end.outcome,
    at: instantOf(now()),
    ...(kept === undefined ? {} : { commit: kept }),
    ...(end.reason === undefined ? {} : { reason: end.reason }),
    tries,
    ...(end.outcome === 'failed' && waitMs !== undefined ? { next_at: instantOf(now() + waitMs) } : {}),
  }
  branches.update(agentId, (one) => ({ ...one, push }))
  return push.next_at
}
