import { join } from 'node:path'

/** Where the files of one profile are. */
export interface ProfilePaths {
  readonly directory: string
  readonly lock: string
  readonly events: string
  readonly index: string
  readonly history: string
  readonly text: string
  /** What was said, kept when the logs are gone. */
  readonly words: string
  readonly roster: string
  readonly sessions: string
  readonly archive: string
  readonly autoPrune: string
  /** How agents run: a file each. */
  readonly agents: string
  /** Where programs put their messages. */
  readonly spool: string
  /** The last command that each running agent typed: a file per run. */
  readonly beats: string
  /** What agents, groups and units of work may spend. */
  readonly budgets: string
  /** The code state of turns: a git store per repository. */
  readonly snapshots: string
}

/** What to do about a `history.db` or `text.db` that stays damaged, also after a new one was begun. */
export const FILLED_AGAIN =
  'Move history.db and text.db away, then run skein ingest: they are filled again from the logs and the archive'

export const profilesDirectory = (root: string): string => join(root, 'profiles')

export function profilePaths(root: string, profile: string): ProfilePaths {
  const directory = join(profilesDirectory(root), profile)
  return {
    directory,
    lock: join(directory, 'lock'),
    events: join(directory, 'events'),
    index: join(directory, 'index.db'),
    history: join(directory, 'history.db'),
    text: join(directory, 'text.db'),
    words: join(directory, 'archive'),
    roster: join(directory, 'roster.json'),
    sessions: join(directory, 'sessions'),
    archive: join(directory, 'sessions', 'archive'),
    autoPrune: join(directory, 'auto-prune.json'),
    agents: join(directory, 'agents'),
    spool: join(directory, 'spool'),
    beats: join(directory, 'beats'),
    budgets: join(directory, 'budgets.json'),
    snapshots: join(directory, 'snapshots'),
  }
}
