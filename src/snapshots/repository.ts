import { dirname, join, resolve } from 'node:path'
import { followed, guardedText, statOf } from '../disk/index.js'
import type { Git } from './git.js'

/** The user's repository, as its files describe it. Finding it starts no program and reads no configuration but the format of its objects. */
export interface Repository {
  /** The directory that holds the files. */
  readonly root: string
  /** Of this worktree: HEAD and index. */
  readonly gitDirectory: string
  /** Of all worktrees: objects and branches. */
  readonly commonDirectory: string
  readonly objectFormat: 'sha1' | 'sha256'
}

/** Where HEAD is. No commit: the branch is unborn. No branch: HEAD is detached. */
export interface Head {
  readonly commit?: string
  readonly branch?: string
}

const MOST_BYTES = 64 * 1024 * 1024

/** The repository that a directory is in; undefined without one. */
export function findRepository(directory: string): Repository | undefined {
  for (let at = followed(directory); ; at = dirname(at)) {
    const gitDirectory = gitDirectoryIn(at)
    if (gitDirectory !== undefined) return describe(at, gitDirectory)
    if (dirname(at) === at) return undefined
  }
}

/** The same for a directory that must be the root of one, such as a submodule. */
export function repositoryAt(root: string): Repository | undefined {
  const gitDirectory = gitDirectoryIn(root)
  return gitDirectory === undefined ? undefined : describe(followed(root), gitDirectory)
}

function gitDirectoryIn(directory: string): string | undefined {
  const path = join(directory, '.git')
  const stat = statOf(path)
  if (!stat) return undefined
  const link = stat.isFile() ? /^gitdir: ([\s\S]+?)\n*$/.exec(guardedText(path, 8_192) ?? '')?.[1] : undefined
  const found = stat.isDirectory() ? path : link === undefined ? undefined : resolve(directory, link)
  return found !== undefined && statOf(join(found, 'HEAD')) ? followed(found) : undefined
}

function describe(root: string, gitDirectory: string): Repository {
  const common = guardedText(join(gitDirectory, 'commondir'), 8_192)?.trim()
  const commonDirectory = common === undefined ? gitDirectory : followed(resolve(gitDirectory, common))
  const config = guardedText(join(commonDirectory, 'config'), MOST_BYTES) ?? ''
  const objectFormat = /^\s*objectformat\s*=\s*"?sha256/im.test(config) ? 'sha256' : 'sha1'
  return { root, gitDirectory, commonDirectory, objectFormat }
}

/** Reads HEAD from its files; a repository that keeps its refs in tables is asked through git. */
export async function headOf({ gitDirectory, commonDirectory }: Repository, git: Git): Promise<Head> {
  const text = guardedText(join(gitDirectory, 'HEAD'), 8_192)?.trim() ?? ''
  const ref = /^ref: (refs\/.+)$/.exec(text)?.[1]
  if (ref === undefined) return /^[0-9a-f]{40,64}$/.test(text) ? { commit: text } : {}
  if (ref === 'refs/heads/.invalid') return headInTables(gitDirectory, git)
  const commit = resolveRef(ref, gitDirectory, commonDirectory)
  return { ...(commit === undefined ? {} : { commit }), branch: ref.replace(/^refs\/heads\//, '') }
}

async function headInTables(gitDirectory: string, git: Git): Promise<Head> {
  const at = ['--git-dir', gitDirectory]
  const commit = await git.text([...at, 'rev-parse', '--quiet', '--verify', 'HEAD'], { accept: [1] })
  const branch = await git.text([...at, 'symbolic-ref', '--quiet', '--short', 'HEAD'], { accept: [1] })
  return { ...(commit === '' ? {} : { commit }), ...(branch === '' ? {} : { branch }) }
}

function resolveRef(ref: string, gitDirectory: string, commonDirectory: string, depth = 0): string | undefined {
  for (const directory of new Set([gitDirectory, commonDirectory])) {
    const text = guardedText(join(directory, ref), 8_192)?.trim()
    const further = /^ref: (refs\/.+)$/.exec(text ?? '')?.[1]
    if (further !== undefined && depth < 5) return resolveRef(further, gitDirectory, commonDirectory, depth + 1)
    if (text !== undefined && /^[0-9a-f]{40,64}$/.test(text)) return text
  }
  const packed = guardedText(join(commonDirectory, 'packed-refs'), MOST_BYTES) ?? ''
  const at = packed.indexOf(` ${ref}\n`)
  return at < 0 ? undefined : packed.slice(packed.lastIndexOf('\n', at) + 1, at)
}
