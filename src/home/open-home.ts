import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { explainDiskError, makeDirectory, releaseFiles } from '../disk/index.js'
import { settledOverrides, spentBySession } from '../index/index.js'
import { type Context, type Event, SkeinError } from '../model/index.js'
import type { Home } from './api.js'
import type { ArchiveBook } from './archive-api.js'
import { Config } from './config.js'
import { EventBook } from './events.js'
import type { LogHistory } from './history.js'
import type { History } from './history-api.js'
import { StoredIndexCare } from './index-care.js'
import type { LogStores } from './log-stores.js'
import { profilePaths } from './paths.js'
import type { AuditOptions, Privacy } from './privacy-api.js'
import { ProfileStore } from './profile-store.js'
import { DEFAULT_PROFILE, parseProfile, profileNotFound } from './profiles.js'
import type { Programs } from './programs-api.js'
import { purgeStamp } from './purge-stamp.js'
import { StoredRoster } from './roster-book.js'
import { SessionBook } from './sessions.js'
import type { Spending } from './spending.js'
import type { Surroundings } from './surroundings.js'

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

export async function openHome({
  root,
  configFile,
  profile = DEFAULT_PROFILE,
  context,
  userId,
  surroundings,
  cwd,
}: HomeOptions): Promise<Home> {
  const name = parseProfile(profile)
  const paths = profilePaths(root, name)
  try {
    const isNew = statSync(paths.directory, { throwIfNoEntry: false }) === undefined
    if (isNew && name !== DEFAULT_PROFILE) throw profileNotFound(root, name)
    if (isNew) makeDirectory(paths.directory)
    refuseForeign(root, userId)
  } catch (error) {
    throw explainDiskError(error, root)
  }
  if (existsSync(join(root, 'purge-unfinished')))
    context.warn('A purge was interrupted or is under way. Finish it with: skein purge --resume')
  const store = new ProfileStore(paths, context, { readOnly: !isWritable(paths.directory) })
  const config = new Config(configFile, () => surroundings.home, context.warn)
  const sessions = new SessionBook(store, cwd)
  const events = new EventBook(store, config, sessions)
  const privacyFile = join(dirname(configFile), 'privacy.yaml')
  const memory = onDemand(async () => {
    const { PolicyMemory } = await import('./policy-memory.js')
    return new PolicyMemory(join(root, 'project-policies.json'))
  })
  const logged: () => Promise<LogHistory> = onDemand(async () => {
    const { LogHistory } = await import('./history.js')
    const { Policies } = await import('./policies.js')
    const { PurgeBook } = await import('./purge-book.js')
    const [policies, purges] = [new Policies(privacyFile, context, await memory()), new PurgeBook(root)]
    return new LogHistory({ store, sessions, config, surroundings, policies, purges, stores: await stores() })
  })
  const stores: () => Promise<LogStores> = onDemand(async () => {
    const { LogStores } = await import('./log-stores.js')
    return new LogStores(store, async () => (await logged()).refill())
  })
  const spending: () => Promise<Spending> = onDemand(async () => {
    const { Spending } = await import('./spending.js')
    return new Spending({ store, sessions, config, surroundings, stores: await stores(), logs: logged })
  })
  return {
    profile: name,
    directory: paths.directory,
    paths,
    sessions,
    roster: new StoredRoster(store, cwd),
    events,
    index: new StoredIndexCare(store, async () => (await logged()).rebuild()),
    history: historyOnDemand(logged, {
      search: async (options) => {
        const { WordSearch } = await import('./search.js')
        return new WordSearch(store, sessions, await stores()).search(options)
      },
      cost: async (options) => (await spending()).cost(options),
      prices: async () => (await spending()).prices(),
      spent: async (ids) => {
        if (!store.options.readOnly && (await arePricesOld(paths.history, config))) await (await spending()).cost()
        return spentBySession(paths.history, ids)
      },
    }),
    archive: archiveOnDemand(
      onDemand(async () => {
        const { StoredArchive } = await import('./archive-care.js')
        return new StoredArchive(store, sessions, config, await stores(), events)
      }),
    ),
    privacy: privacyOnDemand(
      async () => {
        const { PrivacyCare } = await import('./privacy-care.js')
        const audited = (options: AuditOptions): Promise<Event[]> =>
          events.read({ ...options, type: 'privacy_redacted' })
        const setup = { logged, stores, audited, privacyFile, memory: await memory(), zone: () => surroundings.zone }
        return new PrivacyCare(store, setup)
      },
      async (options) => {
        const { Purge, sessionToPurge } = await import('./purge.js')
        const { PurgeBook } = await import('./purge-book.js')
        const purge = new Purge({
          root,
          isShared: root === surroundings.home,
          store,
          book: new PurgeBook(root),
          findSession: (reference) => sessionToPurge(reference, (one) => sessions.findById(one)),
          nativeLogs: async () => (await logged()).logPaths(),
        })
        return purge.run(options)
      },
      () => purgeStamp(root),
    ),
    programs: programsOnDemand(async () => {
      const { ConfiguredPrograms } = await import('./programs.js')
      return new ConfiguredPrograms(config, surroundings)
    }),
    async [Symbol.asyncDispose]() {
      try {
        if (store.hasWritten) await events.prune({ auto: true })
      } catch (error) {
        // Housekeeping must not fail the work it follows; the next run tries again.
        context.warn(`Old events were not pruned: ${(error as Error).message}`)
      } finally {
        await store[Symbol.asyncDispose]()
        await releaseFiles()
      }
    },
  }
}

function onDemand<T>(load: () => Promise<T>): () => Promise<T> {
  let loaded: Promise<T> | undefined
  return () => {
    loaded ??= load()
    return loaded
  }
}

/** What needs the readers of logs. */
type LoggedHistory = Omit<History, 'spent' | 'search' | 'cost' | 'prices'>

/** Reading logs brings readers and prices along, which a list of sessions should not have to load. */
function historyOnDemand(history: () => Promise<LoggedHistory>, others: Omit<History, keyof LoggedHistory>): History {
  return {
    ingest: async (options) => (await history()).ingest(options),
    watch: async (options) => (await history()).watch(options),
    roots: async () => (await history()).roots(),
    turns: async (reference, options) => (await history()).turns(reference, options),
    counts: async (session) => (await history()).counts(session),
    ...others,
  }
}

/** What was summed up with prices that the user has changed since. Settings that cannot be read must not keep a list from being shown. */
async function arePricesOld(history: string, config: Config): Promise<boolean> {
  const settled = settledOverrides(history)
  try {
    return settled !== undefined && settled !== (await config.pricesKey())
  } catch {
    return false
  }
}

function programsOnDemand(load: () => Promise<Programs>): Programs {
  return {
    runners: async () => (await load()).runners(),
    environment: async () => (await load()).environment(),
  }
}

type Care = Omit<Privacy, 'purge' | 'lastPurge'>

function privacyOnDemand(care: () => Promise<Care>, purge: Privacy['purge'], lastPurge: Privacy['lastPurge']): Privacy {
  return {
    lastPurge,
    audit: async (options) => (await care()).audit(options),
    stored: async () => (await care()).stored(),
    apply: async (options) => (await care()).apply(options),
    policyAt: async (cwd) => (await care()).policyAt(cwd),
    purge,
  }
}

function archiveOnDemand(archive: () => Promise<ArchiveBook>): ArchiveBook {
  return {
    list: async (filter) => (await archive()).list(filter),
    stats: async () => (await archive()).stats(),
    verify: async () => (await archive()).verify(),
    restore: async (reference, options) => (await archive()).restore(reference, options),
    prune: async (options) => (await archive()).prune(options),
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
