import type { Git } from './git.js'

/**
 * Adds a worktree without files, on a new branch or with a detached HEAD. The branch is made on its own: `worktree add -b` would leave it behind
 * where it fails, and could then not be tried again.
 */
export async function addWorktree(
  git: Git,
  at: readonly string[],
  { path, branch, commit }: { path: string; branch: string | undefined; commit: string },
): Promise<void> {
  if (branch !== undefined) {
    const none = '0'.repeat(commit.length)
    const why = ['-m', `branch: Created from ${commit}`]
    await git.run([...at, 'update-ref', '--no-deref', ...why, `refs/heads/${branch}`, commit, none])
  }
  const how = branch === undefined ? ['--detach', path, commit] : [path, branch]
  await git.run([...at, 'worktree', 'add', '--quiet', '--no-checkout', ...how])
}
