import { statOf } from '../disk/index.js'
import type { Git } from './git.js'
import { messagesOf } from './messages.js'
import { refusePipes } from './readable-repository.js'
import { findRepository } from './repository.js'

/** A commit by the beginning of its id, as a repository has it. */
export interface ExistingCommit {
  commit: string
  committedMs: number
}

/** Which of these a repository has; undefined where the directory is in none. A beginning that several have is none of them. */
export async function existingCommits(
  git: Git,
  directory: string,
  beginnings: readonly string[],
): Promise<Map<string, ExistingCommit> | undefined> {
  const repository = statOf(directory)?.isDirectory() ? findRepository(directory) : undefined
  if (!repository) return undefined
  refusePipes([repository.gitDirectory, repository.commonDirectory])
  const asked = beginnings.filter((one) => /^[0-9a-f]{7,64}$/.test(one))
  if (asked.length === 0) return new Map()
  const at = { at: () => ['--git-dir', repository.gitDirectory] }
  const input = asked.map((one) => `${one}\n`).join('')
  const { stdout } = await git.run([...at.at(), 'cat-file', '--batch-check', '--buffer'], { input, accept: [128] })
  const ids = [...stdout.toString('latin1').matchAll(/^([0-9a-f]+) commit \d+$/gm)].map(([, commit = '']) => commit)
  const found = new Map<string, ExistingCommit>()
  for (const { commit, message } of await messagesOf(git, at, ids)) {
    const beginning = asked.find((one) => commit.startsWith(one))
    const seconds = /^committer .*> (\d+) [+-]\d+$/m.exec(message)?.[1]
    if (beginning !== undefined && seconds !== undefined)
      found.set(beginning, { commit, committedMs: Number(seconds) * 1_000 })
  }
  return found
}
