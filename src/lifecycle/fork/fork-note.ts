import { rmdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import {
  guardedText,
  isThere,
  makeDirectory,
  namesIn,
  type ProcessPlace,
  processStat,
  textIn,
  thisPlace,
  whereaboutsOf,
  writeAtomic,
} from '../../disk/index.js'
import { isAgentId, readJson, type SessionId } from '../../model/index.js'
import type { Parts } from '../parts.js'
import { Git } from '../sling/worktree.js'

/** What a fork is about to make, written down before it is made. Whoever finds the note of a fork whose process is gone takes it back. */
export interface ForkNote {
  v: 1
  id: string
  pid: number
  process_start?: number
  place: ProcessPlace
  /** A worktree of this repository, on a new branch at this commit; or a plain directory. */
  repository?: string
  directory?: string
  branch?: string
  head?: string
  files: string[]
  agent?: string
  session?: SessionId
}

const SUFFIX = '.json'
const directoryOf = ({ home }: Parts): string => join(home.paths.agents, 'forks')

export class ForkNotes {
  constructor(private readonly parts: Parts) {}

  begin(id: string): ForkNote {
    const start = processStat(process.pid)?.starttime
    return {
      v: 1,
      id,
      pid: process.pid,
      ...(start === undefined ? {} : { process_start: start }),
      place: thisPlace(),
      files: [],
    }
  }

  write(note: ForkNote): void {
    makeDirectory(directoryOf(this.parts))
    writeAtomic(this.#path(note.id), `${JSON.stringify(note)}\n`, { durable: true })
  }

  forget(id: string): void {
    rmSync(this.#path(id), { force: true })
  }

  /** Takes back what forks that were cut off have left. One whose agent was started is complete. */
  async sweep(): Promise<void> {
    for (const name of namesIn(directoryOf(this.parts))) {
      const note = name.endsWith(SUFFIX) ? readNote(textIn(join(directoryOf(this.parts), name))) : undefined
      if (!note || isAlive(note)) continue
      await undoFork(this.parts, note)
      this.forget(note.id)
    }
  }

  #path(id: string): string {
    return join(directoryOf(this.parts), `${id}${SUFFIX}`)
  }
}

function readNote(text: string | undefined): ForkNote | undefined {
  const value = text === undefined ? undefined : readJson(text)
  if (typeof value !== 'object' || value === null) return undefined
  const note = value as ForkNote
  return note.v === 1 && typeof note.id === 'string' && Array.isArray(note.files) ? note : undefined
}

/** A process that cannot be seen from here is left alone. */
function isAlive({ pid, process_start, place }: ForkNote): boolean {
  const where = whereaboutsOf(place)
  if (where !== 'here') return where === 'elsewhere'
  const stat = processStat(pid)
  return stat !== undefined && (process_start === undefined || stat.starttime === process_start)
}

/** Removes what a fork has made, in the opposite order. Nobody has worked in it: its program was never started. */
export async function undoFork(parts: Parts, note: ForkNote): Promise<void> {
  if (isAgentId(note.agent)) {
    const agent = (await parts.home.roster.agents()).find(({ id }) => id === note.agent)
    const run = agent && (await parts.runs.read(agent.id))
    if (run?.run || run?.launching) return
    if (agent) {
      await parts.home.roster.remove(agent.id)
      parts.runs.forget(agent.id)
    }
  }
  const known = note.session && (await parts.home.sessions.get(note.session))
  if (known && known.ended_at === undefined)
    await parts.home.sessions.end(known.id, { outcome: 'killed', reason: 'the fork was taken back' })
  for (const path of note.files) rmSync(path, { force: true })
  await removeTree(parts, note)
}

/** Only a worktree of that repository: a directory that somebody else made in its place is left as it is. */
async function removeTree(parts: Parts, { repository, directory, branch, head }: ForkNote): Promise<void> {
  if (directory === undefined || !isThere(directory)) return
  if (repository === undefined) {
    rmSync(directory, { recursive: true, force: true })
    return
  }
  const git = new Git(parts.environment.env)
  const common = await git.run(directory, 'rev-parse', '--path-format=absolute', '--git-common-dir')
  const isIts = common === repository && guardedText(join(directory, '.git'), 8_192)?.startsWith('gitdir: ') === true
  if (isIts) rmSync(directory, { recursive: true, force: true })
  else if (namesIn(directory).length === 0) rmdirSync(directory)
  await git.run(repository, 'worktree', 'prune')
  const now = branch && (await git.run(repository, 'rev-parse', '--verify', '--quiet', `refs/heads/${branch}`))
  if (isIts && branch && now === head) await git.run(repository, 'branch', '-D', branch)
}
