import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isThere, makeDirectory } from '../../disk/index.js'
import { SkeinError } from '../../model/index.js'
import type { Parts } from '../parts.js'
import { Git } from '../sling/worktree.js'
import { directoryMark, type ForkNote } from './fork-note.js'
import { type ForkPlan, placeBelow, turnCommitFor } from './fork-plan.js'
import { type Included, includeIgnored } from './worktree-include.js'

/** The directory that a fork works in. */
export interface ForkTree {
  directory: string
  cwd: string
  branch?: string
  missing: { path: string; reason: string }[]
  /** Files that changed before they were read; without any, what is there is exactly what was there then. */
  late: string[]
  isExact: boolean
  included: Included
}

/** Makes a worktree with the files of the turn. `write` keeps the note before anything of it is made. */
export async function restoreTree(
  parts: Parts,
  plan: ForkPlan,
  { note, write, name }: { note: ForkNote; write: () => void; name: string | undefined },
): Promise<ForkTree> {
  const { snapshot, at } = plan
  if (!snapshot) throw new Error('no snapshot to restore')
  const git = new Git(parts.environment.env)
  const isGit = snapshot.git_directory !== undefined
  const common = isGit
    ? await git.run(snapshot.root, 'rev-parse', '--path-format=absolute', '--git-common-dir')
    : undefined
  const repository = common ?? (snapshot.git_directory ? commonOf(snapshot.git_directory) : undefined)
  if (repository !== undefined && !isThere(repository)) throw repositoryGone(repository, plan)
  const short = note.id.slice(0, 8)
  const beside = repository ? repository.replace(/\/\.git$/, '') : snapshot.root
  const directory = join(`${beside}.worktrees`, isGit ? (name ?? short) : short)
  if (isThere(directory)) throw alreadyThere(directory)
  const branch = isGit ? (name ?? `skein/session/${short}`) : undefined
  if (repository && branch) await refuseTaken(git, repository, branch)
  const base = branch === undefined ? undefined : await turnCommitFor(parts, plan)
  const head = base ?? snapshot.head
  const above = dirname(directory)
  Object.assign(note, {
    directory,
    made_above: missingFrom(above),
    ...(repository ? { repository } : {}),
    ...(branch && head ? { branch } : {}),
    ...(head ? { head } : {}),
  })
  write()
  makeDirectory(above)
  makeOwn(directory, note)
  write()
  const target = { path: directory, ...(branch ? { branch } : {}), ...(base === undefined ? {} : { base }) }
  const restored = await parts.home.snapshots.restore(snapshot, target)
  const included =
    isGit && isThere(snapshot.root) ? await includeIgnored(git, snapshot.root, directory) : { files: 0, left: [] }
  return {
    directory,
    cwd: placed(placeBelow(directory, snapshot.root, at), directory),
    ...(restored.branch ? { branch: restored.branch } : {}),
    missing: restored.missing,
    late: snapshot.late,
    isExact: snapshot.exact && snapshot.mode === 'whole',
    included,
  }
}

/** Another fork of the same name may have made it meanwhile: then nothing there is this fork's to take back. */
function makeOwn(directory: string, note: ForkNote): void {
  try {
    mkdirSync(directory)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    for (const key of ['directory', 'repository', 'branch', 'head'] as const) delete note[key]
    throw alreadyThere(directory)
  }
  note.made = directoryMark(directory)
}

const alreadyThere = (directory: string): SkeinError =>
  new SkeinError('bad-input', `${directory} is already there`, 'Choose another name: --name <name>')

const repositoryGone = (repository: string, { session }: ForkPlan): SkeinError =>
  new SkeinError(
    'snapshot-refused',
    `The repository ${repository} is no longer there`,
    `Put it back, or make an agent elsewhere: skein pack ${session.id} -o <file> , then skein unpack <file>`,
  )

/** Before it is written down as one that the fork makes. */
async function refuseTaken(git: Git, repository: string, branch: string): Promise<void> {
  const there = await git.run(repository, 'rev-parse', '--verify', '--quiet', `refs/heads/${branch}`)
  if (there !== undefined)
    throw new SkeinError('bad-input', `The branch ${branch} is already there`, 'Choose another name: --name <name>')
}

/** The directory that the source worked in may have been made after the turn. */
const placed = (cwd: string, directory: string): string => (isThere(cwd) ? cwd : directory)

const commonOf = (gitDirectory: string): string => gitDirectory.replace(/\/worktrees\/[^/]+$/, '')

function missingFrom(directory: string): string[] {
  return isThere(directory) ? [] : [directory, ...missingFrom(dirname(directory))]
}
