import { FactFilter } from '../../archive/index.js'
import {
  applyTier,
  filterText,
  type Policy,
  policyFingerprint,
  TIERS,
  type Tier,
  tiersFor,
} from '../../privacy/index.js'
import type { Fact } from '../../tools/index.js'
import { ANSWER } from './passage.js'
import { type Rewriting, rewriteLog, type StoredPassage } from './rewrite-text.js'
import type { TextStore } from './text-store.js'

/** A log whose text is stored, and the policy that was applied to it. */
export interface FilteredLog {
  n: number
  path: string
  part: string
  tool: string
  session: string | null
  agent: string | null
  cwd: string | null
  /** Null when it is not known. */
  fingerprint: string | null
}

export function filteredLogs({ db }: TextStore): FilteredLog[] {
  return db.all(
    'select l.n, l.path, l.part, l.tool, l.session, l.agent, l.cwd, p.fingerprint from text_logs l left join text_policies p on p.log = l.n order by l.n',
  ) as FilteredLog[]
}

/** Logs of sessions that work in one directory and were filtered under one policy. */
export interface FilteredPlace {
  cwd: string | null
  fingerprint: string | null
  logs: number
}

export function filteredPlaces({ db }: TextStore): FilteredPlace[] {
  return db.all(
    'select l.cwd, p.fingerprint, count(*) as logs from text_logs l left join text_policies p on p.log = l.n group by l.cwd, p.fingerprint',
  ) as FilteredPlace[]
}

/** Has the next ingest read the words of a log from its beginning, for the archive as well. Until then the old text is found. */
export function readAgain({ db }: TextStore, { n }: FilteredLog): void {
  db.run("update text_logs set stamp = '', place = null where n = ?", n)
}

/**
 * Filters what is stored of a log whose file is gone. What an earlier policy left out cannot come back. `isNotice` says which turns
 * were not begun by a person.
 */
export function refilterLog(
  store: TextStore,
  log: FilteredLog,
  policy: Policy,
  { isNotice, dryRun }: { isNotice: (agent: string, turn: number) => boolean; dryRun: boolean },
): Rewriting {
  const change = (passage: StoredPassage): string => {
    if (passage.kind === 'tools') return refilteredCall(passage, policy)
    const isTold = passage.kind === 'prompts' && isNotice(passage.agent, passage.turn)
    if (log.agent === null && passage.agent === '' && !isTold) return filterText(passage.text).text
    return delegated(passage, isTold, policy)
  }
  if (dryRun) return rewriteLog(store, log.n, change, { dryRun })
  return store.db.inTransaction(() => {
    const rewriting = rewriteLog(store, log.n, change)
    const noted = 'insert or replace into text_policies (log, fingerprint) values (?, ?)'
    store.db.run(noted, log.n, policyFingerprint(policy))
    return rewriting
  })
}

/** As the facts of a log are filtered, so that both say the same. */
function delegated({ kind, text, turn }: StoredPassage, isTold: boolean, policy: Policy): string {
  const filter = new FactFilter({ policy, isOfSubAgent: true, toolOf: () => undefined })
  if (kind === 'replies') return textIn(filter.kept({ kind: 'said', turn, message: '', part: '', text }))
  return textIn(filter.kept({ kind: 'turn', turn, prompt: text, by: isTold ? 'tool' : 'program', follows: 0 }))
}

const textIn = (fact: Fact | undefined): string =>
  fact?.kind === 'said' ? fact.text : fact?.kind === 'turn' ? fact.prompt : ''

/** Of a call as it is stored, its name first. Where only the names of arguments may stay, they are no longer known for sure. */
function refilteredCall({ tool, text }: StoredPassage, policy: Policy): string {
  const name = tool ?? ''
  const tiers = tiersFor(policy, name)
  const [asked = '', answered] = text.split(ANSWER)
  const call =
    isHidden(tiers.arguments) && !(tiers.arguments === 'metadata' && isMetadata(asked)) ? firstLine(asked) : asked
  const kept = applyTier({ tool: name, arguments: isHidden(tiers.arguments) ? {} : { call } }, policy).arguments?.call
  const result = answered === undefined ? undefined : applyTier({ tool: name, result: answered }, policy).result
  const words = typeof kept === 'string' ? kept : filterText(call).text
  return result ? `${words}${ANSWER}${result}` : words
}

const isHidden = (tier: Tier): boolean => TIERS.indexOf(tier) >= TIERS.indexOf('metadata')
const firstLine = (text: string): string => text.split('\n', 1)[0] ?? ''
const isMetadata = (asked: string): boolean =>
  asked
    .split('\n')
    .slice(1)
    .every((line) => /: \[(?:string|number|boolean|object|array|null)\]$/.test(line))
