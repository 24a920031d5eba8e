const PAUSE_MS = 20
const MOST_PAUSES = 150

/**
 * Runs git again for as long as it dies at a worktree that another git is making at this moment. Before git makes or removes a worktree or a
 * branch it reads those that are there, and it dies at one whose `commondir` is still empty; nothing was changed by then.
 */
export async function pastHalfMade<T>(run: () => Promise<T>, complaintOf: (result: T) => string): Promise<T> {
  for (let pauses = 0; ; pauses += 1) {
    const result = await run()
    if (pauses === MOST_PAUSES || !HALF_MADE.test(complaintOf(result))) return result
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  }
}

const HALF_MADE = /failed to read .*\/worktrees\/.*\/commondir/
