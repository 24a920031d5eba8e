import type { Home, Snapshot } from '../../home/index.js'
import { msOf } from '../../model/index.js'
import { type Environment, findProgram, settingsFiles } from '../../tools/index.js'
import type { AgentRun, Recipe } from '../agent-run.js'
import { accountOf } from '../run/account.js'
import type { TurnEdge } from './turn-edges.js'

/** What is sent to the process that captures. */
export interface EdgeCapture extends TurnEdge {
  recipe: Recipe
  permission_mode?: string
}

export const edgeCapture = (edge: TurnEdge, { recipe, permission_mode }: AgentRun): EdgeCapture => ({
  ...edge,
  recipe,
  ...(permission_mode === undefined ? {} : { permission_mode }),
})

/** Takes the snapshot of a turn's beginning or end, as of the moment that was reported. */
export async function captureEdge(home: Home, edge: EdgeCapture): Promise<Snapshot> {
  const { session, moment, directory, at } = edge
  const snapshot = await home.snapshots.capture({
    directory,
    session,
    moment,
    asOfMs: msOf(at),
    ...(moment === 'prompt' ? { start: await startOf(home, edge) } : {}),
  })
  if (moment === 'stop') await recordCommits(home, snapshot)
  return snapshot
}

/** What was committed during the turn belongs to the session, and not what a pull or a rebase brought. */
async function recordCommits(home: Home, after: Snapshot): Promise<void> {
  if (after.head === undefined) return
  const own = await home.snapshots.list(after.session)
  const before = own.findLast(
    ({ moment, seq, store }) => moment === 'prompt' && store === after.store && seq < after.seq,
  )
  if (!before || before.head === after.head) return
  const known = await home.sessions.get(after.session)
  const made = new Set(known?.commits)
  const commits = await home.snapshots.commits(before, after, (commit) => made.has(commit))
  if (commits.length > 0 && known) await home.sessions.update(after.session, { commits })
}

async function startOf(home: Home, { recipe, permission_mode, session }: EdgeCapture) {
  const { tool, cwd, args, dangerous } = recipe
  // The one it was started with, else the one that its log or its program named last.
  const model = recipe.model ?? (await home.sessions.get(session))?.model
  const environment = await environmentOf(home, recipe)
  const version = findProgram(tool, environment)?.version
  const files = settingsFiles(tool, cwd, environment)
  const mode = permission_mode ?? (dangerous ? 'dangerous' : undefined)
  return home.snapshots.turnStart({
    tool,
    ...(version === undefined ? {} : { tool_version: version }),
    ...(model === undefined ? {} : { model }),
    ...(mode === undefined ? {} : { permission_mode: mode }),
    ...(args === undefined ? {} : { arguments: args }),
    ...(files.length === 0 ? {} : { files }),
  })
}

/** An account that is no longer configured is looked for where the tool is without one. */
async function environmentOf(home: Home, { tool, account }: Recipe): Promise<Environment> {
  const environment = await home.programs.environment()
  const runner = (await home.programs.runners()).all.find(({ name }) => name === tool)
  if (account === undefined || !runner) return environment
  try {
    const { variable, directory } = accountOf(environment, runner, account)
    return { ...environment, env: { ...environment.env, [variable]: directory } }
  } catch {
    return environment
  }
}
