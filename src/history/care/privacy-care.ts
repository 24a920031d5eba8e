import { existsSync } from 'node:fs'
import type { Archive, ArchiveKey } from '../../archive/index.js'
import { explainDiskError, isThere } from '../../disk/index.js'
import {
  type FilteredLog,
  filteredLogs,
  LocalCalendar,
  readAgain,
  refilteredFacts,
  refilterLog,
  refilterPlaces,
  scrubText,
  TextStore,
} from '../../ingest/index.js'
import { type Event, parseSessionId, SkeinError } from '../../model/index.js'
import {
  loadPolicy,
  type Policy,
  policyFingerprint,
  type RedactionTotals,
  totalRedactions,
} from '../../privacy/index.js'
import type { ProfileStore } from '../../store/index.js'
import { FILLED_AGAIN } from '../../store/index.js'
import { LOG_TOOLS, type LogRef } from '../../tools/index.js'
import type { LogHistory } from '../history.js'
import type { LogStores } from '../log-stores.js'
import type { PolicyMemory } from '../policy-memory.js'
import { notePolicies } from '../policy-note.js'
import { isLessThan } from '../told-session.js'
import type { AuditOptions, PolicyApplication, PrivacyUpkeep } from './privacy-api.js'
import { isOutdated, type StoredPolicies, storedPolicies } from './stored-policies.js'

/** What to do about a log whose text was filtered under another policy. */
interface Outdated {
  log: FilteredLog
  policy: Policy
  /** Where it can be read again from its beginning; undefined where only what is stored is left. */
  native: LogRef | undefined
}

export interface PrivacySetup {
  logged: () => Promise<LogHistory>
  stores: () => Promise<LogStores>
  /** The events in which it was noted what was filtered. */
  audited: (options: AuditOptions) => Promise<Event[]>
  privacyFile: string
  memory: PolicyMemory
  zone: () => string
}

/** Looks after the text that is already stored: what was filtered, and whether the policy of today was applied to it. */
export class StoredPrivacy implements PrivacyUpkeep {
  readonly #policies = new Map<string, Policy>()

  constructor(
    private readonly store: ProfileStore,
    private readonly setup: PrivacySetup,
  ) {}

  async audit(options: AuditOptions = {}): Promise<RedactionTotals> {
    const calendar = new LocalCalendar(this.setup.zone())
    const dayOf = (ts: string): string => calendar.dayLabel(calendar.dayNumber(Date.parse(ts)))
    return totalRedactions(await this.setup.audited(options), dayOf)
  }

  async stored(): Promise<StoredPolicies> {
    if (!this.#hasText()) return { logs: 0, outdated: 0 }
    return this.#withText(async (text) => {
      const { logs, outdated } = await storedPolicies(text, (cwd) => this.#policyAt(cwd))
      return { logs, outdated }
    })
  }

  async apply({ dryRun = false }: { dryRun?: boolean } = {}): Promise<PolicyApplication> {
    const report: PolicyApplication = {
      ...{ dry_run: dryRun, logs: 0, outdated: 0, read_again: 0, filtered_again: 0, passages_changed: 0 },
      ...{ passages_dropped: 0, places_changed: 0 },
    }
    if (this.store.options.readOnly)
      throw new SkeinError(
        'home-read-only',
        `${this.store.paths.directory} is read-only`,
        'Make it writable, then try again',
      )
    if (!this.#hasText()) return report
    const [logHistory, stores] = [await this.setup.logged(), await this.setup.stores()]
    return stores.withAll(async ({ history, text, archive }) => {
      const outdated = await this.#outdated(text, archive, report)
      for (const { log, policy } of outdated.filter(({ native }) => native === undefined)) {
        report.filtered_again += 1
        const key = archive.keyOf(log)
        if (archive.standing(key)) {
          const { changed } = await this.#refilterArchived(archive, key, log, policy, dryRun)
          report.passages_changed += changed
          if (!dryRun) text.forget(log) // filled again from the archive below
          continue
        }
        const isNotice = history.noticesOf(log.path, log.part)
        const { changed, dropped } = refilterLog(text, log, policy, { isNotice, dryRun })
        report.passages_changed += changed
        report.passages_dropped += dropped
      }
      // The log itself is read again; what it said before it was rewritten is nowhere but here.
      for (const { log, policy } of outdated.filter(({ native }) => native !== undefined)) {
        const key = archive.keyOf(log)
        if (!archive.entry(key)?.versions.length) continue
        report.passages_changed += (await this.#refilterArchived(archive, key, log, policy, dryRun)).changed
      }
      report.places_changed = outdated.length > 0 ? refilterPlaces(history, { dryRun }) : 0
      const again = outdated.flatMap(({ log, native }) => (native ? [log] : []))
      report.read_again = again.length
      if (dryRun || outdated.length === 0) return report
      // Marked first: should this process end here, the next ingest does the rest.
      for (const log of again) readAgain(text, log)
      await logHistory.readAll()
      scrubText(text)
      history.scrub()
      notePolicies(text, await storedPolicies(text, (cwd) => this.#policyAt(cwd)), this.setup.privacyFile)
      return report
    })
  }

  async #refilterArchived(
    archive: Archive,
    key: ArchiveKey,
    log: FilteredLog,
    policy: Policy,
    dryRun: boolean,
  ): Promise<{ changed: number }> {
    const tools = new Map<string, string>()
    const numbers = archive.entry(key)?.versions.map(({ number }) => number) ?? []
    const facts = [...numbers, undefined].flatMap((number) => archive.read(key, number)?.facts ?? [])
    for (const fact of facts) if (fact.kind === 'tool-call') tools.set(fact.call, fact.name)
    const setup = { policy, isOfSubAgent: log.agent !== null, toolOf: (call: string) => tools.get(call) }
    const change = refilteredFacts(setup)
    if (dryRun) return { changed: facts.filter((fact) => change(fact) !== fact).length }
    return archive.rewrite(key, change, (standing) => ({ ...standing, policy: policyFingerprint(policy) }))
  }

  async #outdated(text: TextStore, archive: Archive, report: PolicyApplication): Promise<Outdated[]> {
    const outdated: Outdated[] = []
    for (const log of filteredLogs(text)) {
      report.logs += 1
      const policy = await this.#policyAt(log.cwd ?? undefined)
      if (!isOutdated(log, policy)) continue
      report.outdated += 1
      outdated.push({ log, policy, native: nativeLog(log, archive) })
    }
    return outdated
  }

  /** Where a file cannot be understood, nothing is applied: what it wants hidden is not known, and what is removed stays removed. */
  async policyAt(cwd: string | undefined): Promise<Policy> {
    const directory = cwd?.startsWith('/') ? cwd : '/'
    const recall = (path: string): string | undefined => this.setup.memory.recall(path)
    return loadPolicy({ userFile: this.setup.privacyFile, directory, recall })
  }

  async #policyAt(cwd: string | undefined): Promise<Policy> {
    const directory = cwd ?? ''
    const policy = this.#policies.get(directory) ?? (await this.policyAt(cwd))
    this.#policies.set(directory, policy)
    return policy
  }

  #hasText(): boolean {
    return !this.store.options.readOnly && existsSync(this.store.paths.text)
  }

  async #withText<T>(use: (text: TextStore) => Promise<T>): Promise<T> {
    try {
      using text = TextStore.open(this.store.paths.text)
      return await use(text)
    } catch (error) {
      throw explainDiskError(error, this.store.paths.text, FILLED_AGAIN)
    }
  }
}

/**
 * The log, if it can be read again. Where the directory that the session worked in is gone, a policy of its project is gone with it:
 * then what is stored is filtered again, which can only take away. So is what the archive has of a log that says less by now.
 */
function nativeLog({ path, part, tool, cwd }: FilteredLog, archive: Archive): LogRef | undefined {
  if (cwd !== null && !isThere(cwd)) return undefined
  const reader = LOG_TOOLS.find((one) => one.name === tool)
  const log = reader?.logAt(path, part === '' ? undefined : parseSessionId(part))
  const isLess = reader && log && isLessThan(archive.standing(archive.keyOf({ tool, path, part })), log, reader)
  return isLess ? undefined : log
}
