import type { SqlValue } from '../disk/index.js'
import { SkeinError } from '../model/index.js'
import type { SessionQuery } from './session-query.js'

export interface Query {
  sql: string
  params: SqlValue[]
}

const DEFAULT_LIMIT = 50
export const MAX_LIMIT = 10_000

/** Where a page ended: the last row's place in the order. Opaque to users. */
interface PagePlace {
  startedAt: string
  id: string
}

export interface ListPlan {
  limit: number
  query: Query
}

/** What a title search found before the list is made; see `titleCandidates`. */
export type TitleMatch = { kind: 'few'; rows: number[] } | { kind: 'many' }

/**
 * Newest first. Each filter alone is served by an index that already has the order of the answer, so the cost depends
 * on the page, not on the number of sessions. `skein sessions list` waits for it.
 */
export function sessionsQuery(
  filter: SessionQuery,
  agents: { at: string | undefined; movedIn: readonly string[] },
  matches: { title: TitleMatch | undefined; text: TitleMatch | undefined },
): ListPlan {
  const { at: agentId, movedIn } = agents
  const limit = pageLimit(filter.limit)
  const rest: Term[] = [
    term('s.role = ?', filter.role),
    term('s.tool = ?', filter.tool),
    term('s.work_unit = ?', filter.work_unit),
    term('s.chain_id = ?', filter.chain_id),
    term('s.outcome = ?', filter.outcome),
    ...directoryTerms(filter.directories),
    ...listTerm('s.id in (select value from json_each(?))', filter.ids),
    ...listTerm(MADE_ONE_OF, filter.commits),
    ...titleTerms(filter.title, matches.title),
    ...textTerms(filter.text, matches.text),
  ]
  const page = filter.cursor === undefined ? undefined : parseCursor(filter.cursor)
  if (filter.rig !== undefined) {
    const others = [...rest, ...agentTerms(filter.agent, agentId)]
    const order = [term('g.path = ?', filter.rig), ...range('g', filter, page), ...notMovedOut(filter.rig)]
    const from = 'session_groups g cross join sessions s on s.id = g.id'
    const recorded = select(from, 'g', [...order, ...others], limit)
    if (movedIn.length === 0) return { limit, query: recorded }
    const moved = byAgent(movedIn).map((of) =>
      select('sessions s', 's', [of, ...range('s', filter, page), ...others], limit),
    )
    return { limit, query: merged([recorded, ...moved], limit) }
  }
  const terms = [...range('s', filter, page), ...rest]
  if (filter.agent === undefined) return { limit, query: select('sessions s', 's', terms, limit) }
  if (agentId === undefined)
    return { limit, query: select('sessions s', 's', [term('s.agent = ?', filter.agent), ...terms], limit) }
  // The address it has now, and whatever it was called before: two ordered lists, merged, instead of one sorted heap.
  const byAddress = select('sessions s', 's', [term(`s.agent = ? and ${NOT_ANOTHERS}`, filter.agent), ...terms], limit)
  const byId = select('sessions s', 's', [term('s.agent_id = ?', agentId), ...terms], limit)
  return { limit, query: merged([byAddress, byId], limit) }
}

/** Ordered lists as one, each session once. */
function merged(lists: readonly Query[], limit: number): Query {
  const all = lists.map(({ sql }) => `select * from (${sql})`).join(' union ')
  const sql = `select * from (${all}) order by started_at desc, id desc limit ${limit + 1}`
  return { sql, params: lists.flatMap(({ params }) => params) }
}

/** SQLite takes 500 lists at most in one question. */
const MOST_LISTS = 100

/** One ordered list per agent; very many agents in one list, which is sorted. */
const byAgent = (ids: readonly string[]): Term[] =>
  ids.length > MOST_LISTS
    ? [term('s.agent_id in (select value from json_each(?))', JSON.stringify(ids))]
    : ids.map((id) => term('s.agent_id = ?', id))

/** What is in a group, as the text of its addresses: from the first to before the second. `0` follows `/`. */
const addressesIn = (group: string): [string, string] => [`${group}/`, `${group}0`]

/**
 * A session is in the group that its agent is in now, where the roster has it. One that was recorded with a rig which was not the group of
 * its agent is in that, too.
 */
function notMovedOut(group: string): Term[] {
  const within = (address: string): string => `(${address} >= ? and ${address} < ?)`
  const isGone = `${within('s.agent')} and exists (select 1 from agents a where a.id = s.agent_id and not ${within('a.address')})`
  return [{ when: `not coalesce(${isGone}, false)`, values: [...addressesIn(group), ...addressesIn(group)] }]
}

/** Agents that are in a group now and have sessions that were recorded under another address. */
export function movedInto(group: string): Query {
  const of = 'from sessions s where s.agent_id = a.id and'
  const isOther = [`s.agent < a.address`, `s.agent > a.address`, `s.agent is null`]
    .map((when) => `exists (select 1 ${of} ${when})`)
    .join(' or ')
  return {
    sql: `select a.id from agents a where a.address >= ? and a.address < ? and (${isOther})`,
    params: addressesIn(group),
  }
}

function directoryTerms(directories: readonly string[] | undefined): Term[] {
  if (!directories) return []
  const cwd = "json_extract(s.record, '$.cwd')"
  const below = directories.map((one) => (one.endsWith('/') ? one : `${one}/`))
  const whens = directories.map(() => `${cwd} = ? or substr(${cwd}, 1, ?) = ?`)
  const values = directories.flatMap((one, at): SqlValue[] => [one, below[at]?.length ?? 0, below[at] ?? ''])
  return [{ when: `(${whens.join(' or ')})`, values }]
}

/** A session may have been told the beginning of an id, as git prints it. */
const MADE_ONE_OF = `exists (select 1 from json_each(s.record, '$.commits') own join json_each(?) meant
  where length(own.value) >= 7 and substr(meant.value, 1, length(own.value)) = own.value)`

const listTerm = (when: string, values: readonly string[] | undefined): Term[] =>
  values ? [{ when, values: [JSON.stringify(values)] }] : []

interface Term {
  when: string
  values: SqlValue[]
}

const term = (when: string, value: string | undefined): Term =>
  value === undefined ? { when: '', values: [] } : { when, values: [value] }

function select(from: string, order: string, terms: Term[], limit: number): Query {
  const used = terms.filter((one) => one.when !== '')
  const where = used.map((one) => one.when).join(' and ') || 'true'
  return {
    sql: `select s.record, ${order}.started_at, ${order}.id from ${from} where ${where} order by ${order}.started_at desc, ${order}.id desc limit ${limit + 1}`,
    params: used.flatMap((one) => one.values),
  }
}

function range(table: string, filter: SessionQuery, page: PagePlace | undefined): Term[] {
  return [
    term(`${table}.started_at >= ?`, filter.since),
    term(`${table}.started_at < ?`, filter.until),
    page
      ? { when: `(${table}.started_at, ${table}.id) < (?, ?)`, values: [page.startedAt, page.id] }
      : { when: '', values: [] },
  ]
}

/** An agent that was renamed takes its sessions along: they are not of the one that has its old address now. */
const NOT_ANOTHERS = 'not exists (select 1 from agents a where a.id = s.agent_id and a.address <> s.agent)'

function agentTerms(agent: string | undefined, agentId: string | undefined): Term[] {
  if (agent === undefined) return []
  return agentId === undefined
    ? [term('s.agent = ?', agent)]
    : [{ when: `(s.agent = ? and ${NOT_ANOTHERS} or s.agent_id = ?)`, values: [agent, agentId] }]
}

function titleTerms(title: string | undefined, match: TitleMatch | undefined): Term[] {
  if (title === undefined || title === '') return []
  // Many hits lie close together in any order, so walking the list and testing each is the fast way there.
  if (match?.kind === 'few') return [{ when: `s.n in (${match.rows.join(',') || 'null'})`, values: [] }]
  return [{ when: "s.title like ? escape '\\'", values: [`%${title.replace(/[\\%_]/g, '\\$&')}%`] }]
}

function textTerms(text: string | undefined, match: TitleMatch | undefined): Term[] {
  return titleTerms(text, match).map(({ when, values }) => ({
    when: `(s.id >= ? and s.id < ? or ${when})`,
    values: [text ?? '', `${text}\uffff`, ...values],
  }))
}

export function pageLimit(limit: number | undefined): number {
  if (limit === undefined) return DEFAULT_LIMIT
  if (Number.isInteger(limit) && limit > 0 && limit <= MAX_LIMIT) return limit
  throw new SkeinError(
    'bad-input',
    `${limit} is not a valid number of sessions`,
    `Use 1 to ${MAX_LIMIT}, and get the next page with the cursor`,
  )
}

export function makeCursor(place: PagePlace): string {
  return Buffer.from(JSON.stringify([place.startedAt, place.id])).toString('base64url')
}

function parseCursor(cursor: string): PagePlace {
  try {
    const [startedAt, id] = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')) as unknown[]
    if (typeof startedAt === 'string' && typeof id === 'string') return { startedAt, id }
  } catch {
    // falls through to the one message
  }
  throw new SkeinError(
    'bad-input',
    `"${cursor.slice(0, 60)}" is not a cursor`,
    'Use the next_cursor of the previous page, unchanged',
  )
}
