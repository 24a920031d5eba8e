import { type Instant, instantOf, type SessionId } from '../../model/index.js'
import { kindOf, kindWord, type PassageKind, toolWord } from './passage.js'
import { indexExpression, parseSearch, type Term } from './search-terms.js'
import { marksIn, snippetOf } from './snippet.js'
import type { TextStore } from './text-store.js'

export interface TextQuery {
  text: string
  kind?: PassageKind | undefined
  /** The program whose log it is, or the tool that was called. */
  tool?: string | undefined
  /** Only in these. */
  sessions?: ReadonlySet<string> | undefined
  sinceMs?: number | undefined
  limit: number
}

/** A passage that has everything that was looked for. */
export interface TextHit {
  session: SessionId
  /** The program whose log it is in, and where that was. */
  tool: string
  path: string
  /** Set when a sub-agent said it; then the turn is one of its turns. */
  sub_agent?: string
  turn: number
  in: PassageKind
  /** The tool that was called. */
  tool_name?: string
  at: Instant
  snippet: string
  /** Where in the snippet the words are: from, and up to but without. */
  marks: [number, number][]
}

export interface TextAnswer {
  hits: TextHit[]
  /** There are more than these. */
  has_more: boolean
  /** False when a phrase of very frequent words was not looked for in the oldest passages. */
  is_complete: boolean
}

interface Row {
  id: number
  key: number
  session: SessionId
  program: string
  path: string
  log_agent: string | null
  agent: string
  turn: number
  kind: number
  tool: string | null
  at_ms: number
  block: number
  start: number
  length: number
}

interface Candidate {
  row: Row
  text: string
}

/** How many of the newest matches are ranked among each other, and at least so many times the limit. */
const WINDOW = { least: 40, times: 2 }
/** Passages whose text is looked at for one phrase. */
const MOST_LOOKED_AT = 1_500
/** Words of the index that one word is looked for in. */
const MOST_HOLDING = 1_000
/** Asking the index again costs as much as many rows. */
const PAGE = 500
const DAY_MS = 86_400_000

/**
 * Newest first by day (UTC), the most fitting first within a day (BM25). Only the newest matches are ranked: what was said last week
 * matters more than what fits best in a year, and ranking all of it takes long for frequent words.
 */
export function searchText(store: TextStore, query: TextQuery): TextAnswer {
  const terms = parseSearch(query.text, {
    split: (word) => indexedWords(store, word),
    holding: (part) => wordsHolding(store, part),
  })
  const isPart = terms.some(({ heldBy }) => [...heldBy.values()].some((words) => words.length === MOST_HOLDING))
  const { found, is_complete: isThrough } = newestMatches(store, query, terms)
  const is_complete = isThrough && !isPart
  const ranked = rank(store, found, terms)
  const hits = ranked.slice(0, query.limit).map(({ row, text }) => hitOf(row, text, terms))
  return { hits, has_more: found.length > hits.length, is_complete }
}

/** Walks the stretches of time from the newest on, until no older one can hold a newer match. */
function newestMatches(
  store: TextStore,
  query: TextQuery,
  terms: readonly Term[],
): { found: Candidate[]; is_complete: boolean } {
  const size = Math.max(WINDOW.least, query.limit * WINDOW.times)
  const look = new Look(store, query, terms)
  const spans = store.db.all('select first, last, max_ms from text_spans order by max_ms desc') as {
    first: number
    last: number
    max_ms: number
  }[]
  let found: Candidate[] = []
  for (const { first, last, max_ms } of spans) {
    if (max_ms < (query.sinceMs ?? 0)) break
    const oldest = found[size - 1]
    if (oldest && oldest.row.at_ms >= max_ms) break
    found.push(...look.within(first, last, size))
    found = eachOnce(found.sort((a, b) => newerFirst(a.row, b.row))).slice(0, size)
  }
  return { found, is_complete: look.left > 0 }
}

/** A log that was moved or copied says the same as the one that is known from before. */
function eachOnce(found: readonly Candidate[]): Candidate[] {
  const seen = new Set<string>()
  return found.filter(({ row, text }) => {
    const { session, agent, log_agent, turn, kind, at_ms } = row
    const said = JSON.stringify([session, agent || log_agent, turn, kind, at_ms, text])
    return seen.size < seen.add(said).size
  })
}

/** What was said at the same moment comes in an order that does not depend on when it was read. */
const newerFirst = (a: Row, b: Row): number =>
  b.at_ms - a.at_ms || (a.session < b.session ? -1 : a.session > b.session ? 1 : a.turn - b.turn || a.key - b.key)

/** One search, going through stretches of ids. */
class Look {
  left = MOST_LOOKED_AT
  readonly #blocks = new Map<number, Buffer>()
  readonly #expression: string
  readonly #phrases: readonly Term[]
  readonly #logs: string | null

  constructor(
    private readonly store: TextStore,
    private readonly query: TextQuery,
    terms: readonly Term[],
  ) {
    const filters = [
      ...(query.kind === undefined ? [] : [kindWord(query.kind)]),
      ...(query.tool === undefined ? [] : [toolWord(query.tool)]),
    ]
    this.#expression = [indexExpression(terms), ...filters.map((word) => `"${word}"`)].join(' AND ')
    this.#phrases = terms.filter((term) => term.isPhrase)
    this.#logs = query.sessions === undefined ? null : logsOf(store, query.sessions)
  }

  /** The newest matches, at most so many. */
  within(first: number, last: number, most: number): Candidate[] {
    const found: Candidate[] = []
    const page = this.#phrases.length > 0 ? PAGE : most
    for (let before = last + 1; found.length < most && this.left > 0; ) {
      const rows = this.store.db.all(
        MATCHES,
        ...[this.#expression, first, before - 1, this.query.sinceMs ?? 0, this.#logs, this.#logs, page],
      ) as Row[]
      for (const row of rows) {
        const text = this.#textOf(row)
        if (this.#phrases.every((term) => holds(text, term))) found.push({ row, text })
        if (this.#phrases.length > 0) this.left -= 1
        if (found.length === most || this.left === 0) break
      }
      const oldest = rows.at(-1)
      if (rows.length < page || !oldest) break
      before = oldest.id
    }
    return found
  }

  #textOf({ block, start, length }: Row): string {
    let bytes = this.#blocks.get(block)
    if (!bytes) {
      bytes = this.store.block(block)
      this.#blocks.set(block, bytes)
    }
    return bytes.subarray(start, start + length).toString()
  }
}

const holds = (text: string, { hint, pattern }: Term): boolean => hint.test(text) && text.search(pattern) >= 0

function logsOf(store: TextStore, sessions: ReadonlySet<string>): string {
  const rows = store.db.all('select n, session from text_logs where session is not null') as {
    n: number
    session: string
  }[]
  return JSON.stringify(rows.filter((row) => sessions.has(row.session)).map((row) => row.n))
}

/** BM25 within each day. */
function rank(store: TextStore, found: readonly Candidate[], terms: readonly Term[]): Candidate[] {
  const counts = found.map(({ text }) => terms.map((term) => marksIn(text, [term]).length))
  const average = found.reduce((sum, { text }) => sum + text.length, 0) / Math.max(1, found.length)
  const passages = Number(
    (store.db.get("select value from text_facts where name = 'passages'") as { value: string }).value,
  )
  const weights = terms.map((term, at) => {
    const seen = counts.filter((count) => (count[at] ?? 0) > 0).length
    const holding = Math.max(seen, Math.min(...frequencies(store, term)))
    return Math.log(1 + Math.max(0, passages - holding + 0.5) / (holding + 0.5))
  })
  const scored = found.map((candidate, at) => {
    const long = 0.25 + (0.75 * candidate.text.length) / average
    const score = weights.reduce((sum, weight, term) => {
      const times = counts[at]?.[term] ?? 0
      return sum + (weight * times * 2.2) / (times + 1.2 * long)
    }, 0)
    return { candidate, score, day: Math.floor(candidate.row.at_ms / DAY_MS) }
  })
  return scored
    .sort((a, b) => b.day - a.day || b.score - a.score || newerFirst(a.candidate.row, b.candidate.row))
    .map(({ candidate }) => candidate)
}

/** How many passages have each word; a beginning of a word has no count of its own. */
function frequencies(store: TextStore, { words, isPrefix }: Term): number[] {
  const whole = isPrefix ? words.slice(0, -1) : words
  if (whole.length === 0) return [0]
  return whole.map((word) => {
    const row = store.db.get('select doc from words_vocabulary where term = ?', word.toLowerCase())
    return (row as { doc: number } | undefined)?.doc ?? 0
  })
}

/** How the index splits a word: asked of an index of the same kind that holds nothing else. */
function indexedWords({ db }: TextStore, word: string): string[] {
  db.database.exec(
    "create virtual table if not exists temp.asked using fts5(text, tokenize='unicode61 remove_diacritics 0'); create virtual table if not exists temp.asked_words using fts5vocab(temp, asked, instance); delete from temp.asked",
  )
  db.run('insert into temp.asked (text) values (?)', word)
  const rows = db.all('select term from temp.asked_words order by "offset"') as { term: string }[]
  return rows.map(({ term }) => term)
}

/** The most frequent of them. Goes through all words: only for scripts in which a sentence is one word. */
function wordsHolding({ db }: TextStore, part: string): string[] {
  const sql = 'select term from words_vocabulary where instr(term, ?) > 0 order by doc desc limit ?'
  return (db.all(sql, part, MOST_HOLDING) as { term: string }[]).map(({ term }) => term)
}

function hitOf(row: Row, text: string, terms: readonly Term[]): TextHit {
  const { text: snippet, marks } = snippetOf(text, terms)
  const sub_agent = row.agent || row.log_agent
  return {
    session: row.session,
    tool: row.program,
    path: row.path,
    ...(sub_agent ? { sub_agent } : {}),
    turn: row.turn,
    in: kindOf(row.kind),
    ...(row.tool ? { tool_name: row.tool } : {}),
    at: instantOf(row.at_ms),
    snippet,
    marks,
  }
}

const MATCHES = `select p.id, p.key, p.agent, p.turn, p.kind, p.tool, p.at_ms, p.block, p.start, p.length, l.session, l.tool as program, l.path, l.agent as log_agent
  from words cross join passages p on p.id = words.rowid cross join text_logs l on l.n = p.log
  where words match ? and words.rowid between ? and ? and p.at_ms >= ? and l.session is not null
    and (? is null or p.log in (select value from json_each(?)))
  order by words.rowid desc limit ?`
