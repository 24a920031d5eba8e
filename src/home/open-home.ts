import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { explainDiskError, makeDirectory, refuseDead, releaseFiles } from '../disk/index.js'
import { openHistory } from '../history/index.js'
import { type Context, SkeinError } from '../model/index.js'
import { openPurging } from '../purge/index.js'
import type { Surroundings } from '../settings/index.js'
import { Config, openPrograms } from '../settings/index.js'
import { type GitProgram, openSnapshots } from '../snapshots/index.js'
import {
  DEFAULT_PROFILE,
  ProfileStore,
  parseProfile,
  profileNotFound,
  profilePaths,
  StoredEvents,
  StoredIndexCare,
  StoredRoster,
  StoredSessions,
} from '../store/index.js'
import { openWork } from '../work/index.js'
import type { Home } from './api.js'

export interface HomeOptions {
  /** SKEIN_HOME, or Skein's directory under the XDG data directory. */
  root: string
  configFile: string
  /** Made when it is the default one; others must exist. */
  profile?: string
  context: Context
  /** The user this process runs as; a home of somebody else is refused. */
  userId?: number
  /** Where the tools keep their logs. */
  surroundings: Surroundings
  /** Where the person is who names an agent by `.`; not given where there is nobody. */
  cwd?: () => string
}

export async function openHome(options: HomeOptions): Promise<Home> {
  const { root, configFile, context, surroundings, cwd, profile = DEFAULT_PROFILE } = options
  const name = parseProfile(profile)
  const paths = profilePaths(root, name)
  makeReady(paths.directory, options, name)
  if (existsSync(join(root, 'purge-unfinished')))
    context.warn('A purge was interrupted or is under way. Finish it with: skein purge --resume')
  const store = new ProfileStore(paths, context, { readOnly: !isWritable(paths.directory) })
  const config = new Config(configFile, () => surroundings.home, context.warn)
  const sessions = new StoredSessions(store, cwd)
  const events = new StoredEvents(store, config, sessions)
  const privacyFile = join(dirname(configFile), 'privacy.yaml')
  const snapshots = openSnapshots(async () => {
    const { purgedFrom } = await import('./purged.js')
    const purged = purgedFrom(root)
    const { mostFileBytes, budgetMs } = await config.turns()
    const limits = {
      ...(mostFileBytes === undefined ? {} : { mostFileBytes }),
      ...(budgetMs === undefined ? {} : { budgetMs }),
    }
    return {
      directory: paths.snapshots,
      program: gitOf(surroundings),
      now: () => context.clock.now(),
      home: surroundings.home,
      limits,
      ...(purged ? { forgetter: purged.forgetter, isGone: purged.isSessionGone } : {}),
    }
  })
  const logs = openHistory({ root, store, sessions, events, config, surroundings, privacyFile, snapshots })
  const purging = openPurging({
    root,
    // Asked for by a purge alone: a user whom the system does not know has no home directory.
    get isShared() {
      return root === surroundings.home
    },
    profile: name,
    isReadOnly: store.options.readOnly,
    context,
    findSession: (reference) => sessions.findById(reference),
    nativeLogs: logs.logPaths,
    storesOf: async (other) => (await import('./word-stores.js')).wordStores(root, other, store, gitOf(surroundings)),
  })
  return {
    profile: name,
    directory: paths.directory,
    paths,
    sessions,
    roster: new StoredRoster(store, cwd, sharedPaths(config)),
    events,
    index: new StoredIndexCare(store, logs.rebuild),
    history: logs.history,
    snapshots,
    archive: logs.archive,
    privacy: { ...logs.privacy, ...purging },
    programs: openPrograms(config, surroundings),
    work: openWork({ store, config, env: surroundings.env, sessionOf: (agent) => sessions.currentOf(agent) }),
    [Symbol.asyncDispose]: () => close(store, events),
  }
}

const sharedPaths = (config: Config) => async () => {
  const roles = await config.roles()
  return (path: string): boolean => roles.sharesPath(path)
}

/** Git is found by the user's PATH, or where systems have it. */
const gitOf = ({ env }: Surroundings): GitProgram => ({
  executable: 'git',
  searchPath: env.PATH ?? '/usr/local/bin:/usr/bin:/bin',
})

/** The default profile is made here; others must exist. */
function makeReady(directory: string, { root, userId }: HomeOptions, profile: string): void {
  try {
    refuseDead(root)
    const isNew = statSync(directory, { throwIfNoEntry: false }) === undefined
    if (isNew && profile !== DEFAULT_PROFILE) throw profileNotFound(root, profile)
    if (isNew) makeDirectory(directory)
    refuseForeign(root, userId)
  } catch (error) {
    throw explainDiskError(error, root)
  }
}

async function close(store: ProfileStore, events: StoredEvents): Promise<void> {
  try {
    if (store.hasWritten) await events.prune({ auto: true })
  } catch (error) {
    // Housekeeping must not fail the work it follows; the next run tries again.
    store.context.warn(`Old events were not pruned: ${(error as Error).message}`)
  } finally {
    await store[Symbol.asyncDispose]()
    await releaseFiles()
  }
}

/** Files of ours in somebody else's home would lock them out of it later; that is worse than an error now. */
function refuseForeign(root: string, userId: number | undefined): void {
  const owner = statSync(root).uid
  if (userId === undefined || owner === userId) return
  const next = 'Run Skein as its owner, or set SKEIN_HOME to a directory of your own'
  throw new SkeinError('home-not-ours', `${root} belongs to user ${owner}, and you are user ${userId}`, next)
}

function isWritable(directory: string): boolean {
  try {
    accessSync(directory, constants.W_OK)
    return true
  } catch {
    return false
  }
}
