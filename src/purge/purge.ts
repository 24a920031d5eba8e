import { basename, dirname } from 'node:path'
import { explainDiskError, isGone } from '../disk/index.js'
import {
  type Erasable,
  type ErasableStores,
  filesIn,
  filesUnder,
  holdsContent,
  isUnder,
  type LogPart,
  RawSearch,
  Sweep,
} from '../erasure/index.js'
import { type Context, instantOf, isSessionId, parseSessionId, type SessionId, SkeinError } from '../model/index.js'
import { Forgetter, PURGED, type PurgeRule, printedSpans, printOf, type SecretPrint } from '../privacy/index.js'
import {
  type GoneSession,
  type KeptPurge,
  listProfiles,
  PurgeList,
  profilePaths,
  profilesDirectory,
} from '../store/index.js'
import { nativeLogsWith, pathsWith, withoutSecret } from './native-logs.js'
import { type Proof, proveGone } from './proof.js'
import type { PurgeOptions, PurgeReport } from './purge-api.js'

/** Shorter texts stand in too many places by chance. */
const SHORTEST_SECRET = 6
/** Files that the user writes: they are reported, not changed. */
const SETTINGS = new Set(['config.toml', 'privacy.yaml'])

export interface PurgeSetup {
  root: string
  /** The directory also holds other files of the user, which are not ours to read. */
  isShared: boolean
  /** The profile that is open. */
  profile: string
  isReadOnly: boolean
  context: Pick<Context, 'clock' | 'random'>
  /** The stores of a profile that keep words. */
  storesOf(profile: string): Promise<ErasableStores>
  findSession(reference: string): Promise<{ id: SessionId }>
  /** Paths of the tools' logs. */
  nativeLogs(): Promise<string[]>
}

interface Work {
  rules: PurgeRule[]
  sessions: Set<string>
  /** From which the sessions came. */
  logs: string[]
  secrets: string[]
}

/**
 * Takes something out of everything that a home holds, in every profile, and proves it by going through all of it again. What is to go
 * is written down first, so that an ingest cannot bring it back and whoever comes next can finish what was interrupted; every
 * step may be done again.
 */
export class Purge {
  readonly #list: PurgeList

  constructor(private readonly setup: PurgeSetup) {
    this.#list = new PurgeList(setup.root)
  }

  async run(options: PurgeOptions): Promise<PurgeReport> {
    if (this.setup.isReadOnly)
      throw new SkeinError('home-read-only', `${this.setup.root} is read-only`, 'Make it writable, then try again')
    const asked = await this.#asked(options)
    const { secret, dryRun = false, accept = false } = options
    const found = new Set<string>()
    if (dryRun) {
      const work = workFor([...this.#list.unfinished(), ...(asked ? [asked] : [])], secret)
      return this.#report(await this.#sweep(work, found, dryRun), work, found)
    }
    // Tried before it is written down: a pattern that takes too long must not stay behind.
    if (asked?.kind === 'pattern') {
      const trial = workFor([asked], secret)
      await this.#report(await this.#sweep(trial, new Set(), true), trial, new Set())
    }
    const addedAt = instantOf(this.setup.context.clock.now())
    if (asked) await this.#list.begin(asked, { addedAt, isSame: (kept) => isSame(kept, asked, secret) })
    const purges = this.#list.unfinished()
    const work = workFor(purges, secret)
    const sweep = await this.#sweep(work, found, false)
    const proof = await this.#prove(work, found)
    const isProved = proof.left.length === 0 && proof.unreadable.length === 0
    // Also when it is not: that it has ended must be seen by those who hold in memory what was purged.
    await this.#list.finish(new Set(isProved || accept ? purges.map(({ n }) => n) : []))
    const left = proof.left.map(withoutSecret(secretsOf(work)))
    return { ...(await this.#report(sweep, work, found)), proof: { ...proof, left } }
  }

  async #report(sweep: Sweep, work: Work, found: ReadonlySet<string>): Promise<PurgeReport> {
    const isParsed = work.rules.some(({ kind }) => kind !== 'secret')
    const forgetter = new Forgetter(work.rules, work.secrets)
    const paths = work.rules.length > 0 ? await this.setup.nativeLogs() : []
    const natives = await nativeLogsWith(paths, { forgetter, raw: rawSearch(work, found), isParsed })
    const ofSessions = work.logs.filter((path) => !isGone(path)).map((file) => ({ file, count: 1 }))
    const shown = withoutSecret(secretsOf(work))
    const stored = (await this.#logs()).map(({ path }) => path)
    return {
      dry_run: sweep.dryRun,
      places: sweep.places.map(shown),
      count: sweep.places.reduce((sum, { count }) => sum + count, 0),
      spellings: [...sweep.forgetter.spellings].sort(),
      native_logs: [...natives, ...ofSessions].map(shown),
      log_paths: pathsWith([...paths, ...work.logs, ...stored, ...this.#list.goneLogs()], secretsOf(work)),
    }
  }

  /** The logs from which something is kept: of one session, or of all. */
  async #logs(session?: SessionId): Promise<LogPart[]> {
    const logs: LogPart[] = []
    await this.#inEachProfile(async ({ stores }) => {
      logs.push(...stores.flatMap((store) => store.logs?.(session) ?? []))
    })
    return logs
  }

  async #asked(options: PurgeOptions): Promise<PurgeRule | GoneSession | undefined> {
    const { pattern, path, session, secret, resume = false } = options
    const given = [pattern, path, session, secret].filter((one) => one !== undefined).length
    if (given !== (resume ? 0 : 1))
      throw new SkeinError('usage', 'Name one thing to purge', 'Use --pattern, --path, --session or --secret-stdin')
    if (pattern !== undefined) return checked({ kind: 'pattern', source: pattern })
    if (path !== undefined) return checked({ kind: 'path', glob: path })
    if (session !== undefined) return this.#goneSession(session)
    if (secret === undefined) return undefined
    refuseUnfit(secret)
    return { kind: 'secret', print: printOf(secret, this.setup.context.random.bytes(32)) }
  }

  async #goneSession(reference: string): Promise<GoneSession> {
    const session = await sessionToPurge(reference, (one) => this.setup.findSession(one))
    return { kind: 'session', session, logs: await this.#logs(session) }
  }

  async #sweep(work: Work, found: Set<string>, dryRun: boolean): Promise<Sweep> {
    const sweep = new Sweep({
      root: this.setup.root,
      forgetter: new Forgetter(work.rules, work.secrets, found),
      sessions: work.sessions,
      dryRun,
      generation: this.#list.purgeFilter()?.generation ?? 0,
    })
    await this.#inEachProfile(({ stores }, directory) => eraseProfile(stores, directory, sweep))
    for (const path of await this.#otherFiles()) await sweep.editedFile(path)
    return sweep
  }

  async #inEachProfile(visit: (profile: ErasableStores, directory: string) => Promise<void>): Promise<void> {
    for (const name of listProfiles(this.setup.root)) {
      const { directory } = profilePaths(this.setup.root, name)
      try {
        await using profile = await this.setup.storesOf(name)
        await visit(profile, directory)
      } catch (error) {
        throw explainDiskError(error, directory)
      }
    }
  }

  /** Files beside the profiles. The proof reports the user's settings and leaves them to the user. */
  async #otherFiles(): Promise<string[]> {
    const { root, isShared } = this.setup
    if (isShared) return []
    const natives = new Set(await this.setup.nativeLogs())
    const isOther = (path: string): boolean =>
      !isUnder(path, profilesDirectory(root)) &&
      holdsContent(path) &&
      !this.#list.ownFiles.includes(path) &&
      !isSetting(path, root) &&
      !natives.has(path)
    return [...filesUnder(root)].filter(isOther)
  }

  /** A second way through everything; of sessions, by looking for their records once more. */
  async #prove(work: Work, found: ReadonlySet<string>): Promise<Proof> {
    const { root, isShared } = this.setup
    const forgetter = new Forgetter(work.rules, work.secrets)
    // Logs of the tools may be below the home; they are reported separately.
    const except = new Set([...this.#list.ownFiles, ...(await this.setup.nativeLogs())])
    const files = isShared
      ? [...filesUnder(profilesDirectory(root)), ...filesIn(root).filter((path) => isSetting(path, root))]
      : filesUnder(root)
    await using profile = await this.setup.storesOf(this.setup.profile)
    const { stores } = profile
    const proof = await proveGone(root, files, { forgetter, raw: rawSearch(work, found), except, stores })
    if (work.sessions.size === 0) return proof
    const again = await this.#sweep({ ...work, rules: [], secrets: [] }, new Set(), true)
    return { ...proof, left: [...proof.left, ...again.places] }
  }
}

/** Each store erases what it keeps, in order; what no store keeps is erased as plain files. */
async function eraseProfile(stores: readonly Erasable[], directory: string, sweep: Sweep): Promise<void> {
  for (const store of stores) await store.erase(sweep)
  for (const path of filesUnder(directory))
    if (holdsContent(path) && !stores.some((store) => store.owns(path))) await sweep.editedFile(path)
}

/** Whether this was purged before: then it is not written down twice. */
function isSame(kept: KeptPurge, asked: PurgeRule | GoneSession, secret: string | undefined): boolean {
  if (kept.kind === 'session') return asked.kind === 'session' && kept.session === asked.session
  if (kept.kind === 'pattern') return asked.kind === 'pattern' && kept.source === asked.source
  if (kept.kind === 'path') return asked.kind === 'path' && kept.glob === asked.glob
  return asked.kind === 'secret' && isOf(kept.print, secret)
}

const isOf = (print: SecretPrint, secret: string | undefined): boolean =>
  secret?.length === print.length && printedSpans(secret, print).length > 0

function workFor(purges: readonly (PurgeRule | GoneSession)[], secret: string | undefined): Work {
  const sessions = purges.filter((one) => one.kind === 'session')
  return {
    rules: purges.filter((one) => one.kind !== 'session'),
    sessions: new Set(sessions.map((one) => one.session)),
    logs: sessions.flatMap((one) => one.logs.map(({ path }) => path)),
    secrets: secret === undefined ? [] : [secret],
  }
}

/** A secret that is known is looked for by itself, the others by their prints. */
function rawSearch({ rules, secrets }: Work, found: ReadonlySet<string>): RawSearch {
  const unknown = rules.filter((rule) => rule.kind !== 'secret' || !secrets.some((secret) => isOf(rule.print, secret)))
  return new RawSearch(unknown, [...secrets, ...found])
}

const secretsOf = ({ rules, secrets }: Work): Forgetter =>
  new Forgetter(
    rules.filter(({ kind }) => kind === 'secret'),
    secrets,
  )

const isSetting = (path: string, root: string): boolean => dirname(path) === root && SETTINGS.has(basename(path))

/** What stands everywhere, or could not be told from what was purged before. */
function refuseUnfit(secret: string): void {
  const pattern = 'use --pattern with the text around it'
  if (secret.length < SHORTEST_SECRET)
    throw new SkeinError(
      'bad-input',
      `A secret of ${secret.length} characters would match too many places by chance`,
      `Use one of at least ${SHORTEST_SECRET} characters, or ${pattern}`,
    )
  if (secret.trim() === '')
    throw new SkeinError('bad-input', 'White space alone is not a secret', `Enter all of it, or ${pattern}`)
  if (secret.includes('\ufffd'))
    throw new SkeinError('bad-input', 'The secret is not text (UTF-8)', 'Enter it as it is written in the logs')
  if (PURGED.includes(secret) || secret.includes(PURGED.slice(1, -1)))
    throw new SkeinError(
      'bad-input',
      `The secret cannot be distinguished from ${PURGED}, which marks purged text`,
      'Use the part before or after it',
    )
}

/** Says what is wrong with a rule before anything is done. */
function checked(rule: PurgeRule): PurgeRule {
  new Forgetter([rule])
  return rule
}

/** A session by a reference, or by its full id if no record of it is left. */
async function sessionToPurge(
  reference: string,
  find: (reference: string) => Promise<{ id: SessionId }>,
): Promise<SessionId> {
  try {
    return (await find(reference)).id
  } catch (error) {
    const isUnknown = (error as { code?: string }).code === 'session-not-found'
    if (isUnknown && isSessionId(reference) && reference.length >= 16) return parseSessionId(reference)
    throw error
  }
}
