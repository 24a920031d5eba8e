import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { Cut, CutPoint, CutTarget } from '../cut/cut.js'
import { keptTurns, TurnEnd } from '../cut/cut-point.js'
import { asLines, Teller, type ToldRecord, turnBegunBy, wholeDocument, wholeRecords } from '../cut/whole-log.js'
import { isObject, type JsonObject, listAt, objectAt, textAt } from '../json-value.js'
import { foldSession } from '../log/fold.js'
import type { LogRef } from '../log/log-tool.js'
import { homeOf } from './gemini-home.js'
import { partsOf } from './gemini-parts.js'
import { newProjectFolder } from './gemini-project.js'
import { documentRecords } from './gemini-records.js'
import { GeminiTranslator } from './gemini-translator.js'

/**
 * Gemini CLI's log up to a turn. It writes the result of a tool with its call and once more as a message, and sends both when a log is
 * opened again; at every resume it writes the whole list, where results are only messages. The copy has each result once, with its call,
 * and of the lists only those that change what the model is sent: a compression made them, or they leave out a turn that was cancelled
 * or failed.
 */
export function cutGemini(log: LogRef, at: CutPoint, target: CutTarget): Cut {
  const { session, cwd, environment, now } = target
  const records = toldRecords(log)
  const kept = keptTurns(foldSession([records.flatMap(({ facts }) => facts)]), at)
  if (kept.length === 0) return { session, turns: 0, files: [] }
  const end = at.edge === 'after' ? endOf(records, at.turn) : records.findIndex((one) => turnBegunBy(one) === at.turn)
  const own = records.slice(0, end)
  const first = own.find(({ record }) => isHeader(record))?.record
  const header = {
    ...first,
    sessionId: session,
    projectHash: createHash('sha256').update(cwd).digest('hex'),
    startTime: now,
    lastUpdated: now,
    kind: 'main',
  }
  const answered = new Set(own.flatMap(({ record }) => answeredIn(record)))
  const standing = new Standing()
  const rest = own.flatMap((told) => standing.after(copied(told, answered, standing)))
  const folder = newProjectFolder(join(homeOf(environment), '.gemini'), cwd)
  const name = `session-${now.slice(0, 16).replace(':', '-')}-${session.slice(0, 8)}.jsonl`
  return {
    session,
    turns: kept.length,
    files: [
      { path: join(folder, 'chats', name), content: asLines([withoutDirectories(header), ...rest]) },
      { path: join(folder, '.project_root'), content: cwd, onlyIfAbsent: true },
    ],
  }
}

/** A list at the start is history from elsewhere: its messages are records of their own here, so that it can be cut within. */
function toldRecords(log: LogRef): ToldRecord[] {
  const teller = new Teller(log, (setup) => new GeminiTranslator(setup))
  const document = log.path.endsWith('.json') ? (wholeDocument(log) ?? {}) : undefined
  let turns = 0
  return (document ? [...documentRecords(document)] : wholeRecords(log)).flatMap((record) => {
    const messages = turns === 0 ? listAt(objectAt(record, '$set'), 'messages').filter(isObject) : []
    const told = (messages.length > 0 ? messages : [record]).map((one) => teller.accept(one))
    turns += told.filter((one) => turnBegunBy(one) !== undefined).length
    return told
  })
}

const isHeader = (record: JsonObject): boolean => record.sessionId !== undefined && record.type === undefined

/** Its directories are those of the session that is copied. */
const withoutDirectories = ({ directories: _, ...header }: JsonObject): JsonObject => header

/** Calls whose results are noted with them. */
const answeredIn = (record: JsonObject): string[] =>
  listAt(record, 'toolCalls')
    .filter(isObject)
    .filter((call) => listAt(call, 'result').length > 0)
    .flatMap((call) => textAt(call, 'id') ?? [])

/** What was said in the copy so far: a list replaces it. */
class Standing {
  #ids = new Set<string>()
  #isResuming = false

  after(records: JsonObject[]): JsonObject[] {
    for (const record of records) {
      const list = objectAt(record, '$set')?.messages
      if (Array.isArray(list)) this.#ids = new Set(list.filter(isObject).flatMap(saidId))
      else for (const id of saidId(record)) this.#ids.add(id)
    }
    return records
  }

  resume(): void {
    this.#isResuming = true
  }

  /** A resume first writes a list with nothing but the context, and then the whole. */
  isLeftOutOf(messages: readonly JsonObject[]): boolean {
    const listed = new Set(messages.flatMap(saidId))
    const isBeginning = this.#isResuming && listed.size === 0
    this.#isResuming = false
    return !isBeginning && [...this.#ids].some((id) => !listed.has(id))
  }
}

/** The id of a prompt or a reply; contexts and results are neither. */
function saidId(message: JsonObject): string[] {
  const id = textAt(message, 'id')
  if (id === undefined || (message.type !== 'user' && message.type !== 'gemini')) return []
  const { text } = partsOf(listAt(message, 'content'))
  return message.type === 'user' && (text === '' || /^\s*<(?:session|hook)_context>/.test(text)) ? [] : [id]
}

function copied({ record, facts }: ToldRecord, answered: ReadonlySet<string>, standing: Standing): JsonObject[] {
  if (isHeader(record)) {
    standing.resume()
    return []
  }
  const change = objectAt(record, '$set')
  if (!change) return isDoubled(record, answered) ? [] : [record]
  const { messages, sessionId: _id, lastUpdated: _time, ...more } = change
  const listed = Array.isArray(messages) ? messages.filter(isObject) : undefined
  const isCompression = facts.some((fact) => fact.kind === 'mark' && fact.mark === 'compacted')
  const isNeeded = listed !== undefined && (standing.isLeftOutOf(listed) || isCompression)
  const set = { ...more, ...(isNeeded ? { messages: onceEach(listed) } : {}) }
  return Object.keys(set).length > 0 ? [{ $set: set }] : []
}

const resultsOf = (message: JsonObject): string[] => {
  const { text, results } = partsOf(listAt(message, 'content'))
  return message.type === 'user' && text === '' ? results.map(({ id }) => id) : []
}

function isDoubled(message: JsonObject, answered: ReadonlySet<string>): boolean {
  const results = resultsOf(message)
  return results.length > 0 && results.every((id) => answered.has(id))
}

/** A list that was made from doubled messages, with each result once. */
function onceEach(messages: readonly JsonObject[]): JsonObject[] {
  const seen = new Set(messages.flatMap(answeredIn))
  return messages.filter((message) => {
    const results = resultsOf(message)
    const isNew = results.length === 0 || results.some((id) => !seen.has(id))
    for (const id of results) seen.add(id)
    return isNew
  })
}

function endOf(records: readonly ToldRecord[], turn: number): number {
  const end = new TurnEnd(turn)
  for (const [index, { facts }] of records.entries()) end.note(facts, index)
  return end.at ?? 0
}
