import { lstatSync, readdirSync, rmdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { guardedText, isThere, namesIn, refuseDeadDirectory } from '../../disk/index.js'
import { type Agent, isAgentId, TAKEN_BACK } from '../../model/index.js'
import { LOG_TOOLS } from '../../tools/index.js'
import { liveRun } from '../agent-run.js'
import type { Parts } from '../parts.js'
import { environmentFor } from '../run/account.js'
import { endUnrecorded } from '../run/end-run.js'
import { kill } from '../run/stop.js'
import { Git } from '../sling/worktree.js'
import { observe } from '../status/observe.js'
import { directoryMark, type ForkNote } from './fork-note.js'
import { outputOf } from './import-conversation.js'

const GRACE_MS = 500

/**
 * Removes what a fork has made, in the opposite order. In the process that made it, a program that was started is ended. A note that is
 * found later (`writtenMs`) is of a fork that is complete if its program was started.
 */
export async function undoFork(
  parts: Parts,
  note: ForkNote,
  { writtenMs }: { writtenMs?: number } = {},
): Promise<void> {
  if ((await removeAgent(parts, note, writtenMs !== undefined)) === 'complete') return
  const known = note.session && (await parts.home.sessions.get(note.session))
  if (known && known.ended_at === undefined)
    await parts.home.sessions.end(known.id, { outcome: 'killed', reason: TAKEN_BACK })
  for (const path of note.files) rmSync(path, { force: true })
  await forgetImported(parts, note)
  await removeTree(parts, note, writtenMs)
  if (note.session) await dropSnapshots(parts, note.session)
}

async function removeAgent(parts: Parts, note: ForkNote, isFound: boolean): Promise<'complete' | 'removed'> {
  const { home, runs } = parts
  const agent = isAgentId(note.agent) && (await home.roster.agents()).find(({ id }) => id === note.agent)
  if (!agent) return 'removed'
  // The pane may be there, of a process that was killed before it could record it.
  if ((await runs.read(agent.id))?.launching) await observe(parts, new Set([agent.id]))
  const run = await runs.read(agent.id)
  if (isFound && run?.run) return 'complete'
  if (liveRun(run)) await kill(parts, agent)
  await endUnrecorded(run?.launching, GRACE_MS)
  await closePane(parts, agent)
  await home.roster.remove(agent.id)
  runs.forget(agent.id)
  for (const path of [...(note.groups ?? [])].reverse()) await home.roster.deleteGroup(path).catch(() => undefined) // in use
  return 'removed'
}

/** Of a program that has ended: tmux keeps it for its last lines. */
async function closePane({ runs, terminals }: Parts, agent: Agent): Promise<void> {
  const run = (await runs.read(agent.id))?.run
  const terminal = run && (await terminals.of(run.socket).catch(() => undefined))
  if (run) await terminal?.close(run.tmux_session).catch(() => undefined) // gone already
}

/** Only the copy, which has an id that was chosen for it. */
async function forgetImported(parts: Parts, { imported }: ForkNote): Promise<void> {
  if (!imported) return
  const { tool: name, session, cwd } = imported
  const tool = LOG_TOOLS.find((one) => one.name === name)
  const environment = environmentFor(parts, { tool: name, cwd })
  if (!tool?.deletes || !tool.discover(environment).some((log) => log.session === session)) return
  await outputOf(tool.deletes(session), environment.home, environment)
}

async function dropSnapshots({ home: { snapshots } }: Parts, session: string): Promise<void> {
  const taken = await snapshots.list(session)
  if (taken.length > 0) await snapshots.remove(taken)
}

/** Only the directory and the branch that the fork made, and only while nobody else has worked there. */
async function removeTree(parts: Parts, note: ForkNote, writtenMs: number | undefined): Promise<void> {
  const { repository, directory, branch, head } = note
  if (directory === undefined) return
  refuseDeadDirectory(directory) // the note is kept for later
  const git = new Git(parts.environment.env)
  const now =
    repository && branch
      ? await git.run(repository, 'rev-parse', '--verify', '--quiet', `refs/heads/${branch}`)
      : undefined
  if (now !== undefined && now !== head) return parts.context.warn(`${directory} was left: ${branch} has new commits`)
  if (isThere(directory)) {
    if (!isOurs(note)) {
      if (namesIn(directory).length > 0) return // of somebody else, who made it in this place
      rmdirSync(directory)
    } else {
      const touched = note.is_ready && writtenMs !== undefined ? changedSince(directory, writtenMs) : undefined
      if (touched !== undefined)
        return parts.context.warn(`${directory} was left: ${touched} was changed after its fork was interrupted`)
      const trees = worktreesIn(directory)
      rmSync(directory, { recursive: true, force: true, maxRetries: 3 })
      for (const tree of trees) await unregister(git, tree)
    }
  }
  if (repository !== undefined) await unregister(git, { repository, directory })
  if (now !== undefined && repository && branch) await git.run(repository, 'branch', '-D', branch)
  for (const above of note.made_above ?? []) if (isThere(above) && namesIn(above).length === 0) rmdirSync(above)
}

/** Not `prune`: that would drop every worktree of the user's that happens not to be mounted. */
async function unregister(
  git: Git,
  { repository, directory }: { repository: string; directory: string },
): Promise<void> {
  await git.run(repository, 'worktree', 'remove', '--force', '--force', directory)
}

function isOurs({ directory = '', made, repository }: ForkNote): boolean {
  if (made !== undefined && directoryMark(directory) === made) return true
  const inner = repository === undefined ? undefined : worktreeOf(directory)
  return inner !== undefined && inner === repository
}

/** The repository that a directory is a worktree of. */
const worktreeOf = (directory: string): string | undefined =>
  /^gitdir: (.+)\/worktrees\/[^/\n]+\n*$/.exec(guardedText(join(directory, '.git'), 8_192) ?? '')?.[1]

/** The worktree itself, and those of the repositories inside. */
function worktreesIn(directory: string): { repository: string; directory: string }[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true }).flatMap((entry) => {
    const repository = entry.name === '.git' && entry.isFile() ? worktreeOf(entry.parentPath) : undefined
    return repository === undefined ? [] : [{ repository, directory: entry.parentPath }]
  })
}

/** A file that was changed after a moment. */
function changedSince(directory: string, ms: number): string | undefined {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' }).find(
    (name) => (lstatSync(join(directory, name), { throwIfNoEntry: false })?.ctimeMs ?? 0) > ms,
  )
}
