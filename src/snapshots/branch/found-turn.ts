import type { Git } from '../git.js'
import { findRepository } from '../repository.js'

/** A turn of a session, by the trailers of its commit. */
export interface TurnName {
  session: string
  turn: number
}

/** Turns with the same number are those of one session: after somebody went back in the branch, the newest is meant. */
const MOST = 50

/** The commit of a turn on a branch of the user's repository. Plumbing: no setting of the repository makes it run a program. */
export async function findTurn(
  git: Git,
  directory: string,
  branch: string,
  { session, turn }: TurnName,
): Promise<string | undefined> {
  const repository = findRepository(directory)
  if (!repository) return undefined
  const words = [`--grep=Skein-Session: ${session}`, `--grep=Skein-Turn: ${turn}`]
  const trailer = (key: string): string => `%(trailers:key=${key},valueonly,separator=%x2C)`
  const format = `--format=%H ${trailer('Skein-Session')} ${trailer('Skein-Turn')}`
  const args = ['rev-list', '--first-parent', '--fixed-strings', '--all-match', ...words, `--max-count=${MOST}`, format]
  const found = await git.run(['--git-dir', repository.commonDirectory, ...args, `refs/heads/${branch}`, '--'], {
    accept: [128],
  })
  const lines = found.code === 0 ? found.stdout.toString().split('\n') : []
  return lines.find((line) => line.endsWith(` ${session} ${turn}`))?.split(' ')[0]
}
