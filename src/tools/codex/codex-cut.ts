import { SkeinError } from '../../model/index.js'
import type { Cut, CutPoint, CutTarget } from '../cut/cut.js'
import { keptTurns, TurnEnd } from '../cut/cut-point.js'
import { asLines, Teller, type ToldRecord, turnBegunBy, wholeRecords, withIds } from '../cut/whole-log.js'
import { type JsonObject, listAt, objectAt, textAt } from '../json-value.js'
import { noCounters } from '../log/counters.js'
import { foldSession } from '../log/fold.js'
import type { LogRef } from '../log/log-tool.js'
import { historyOf } from './codex-history.js'
import { sessionInName } from './codex-name.js'
import { codexRoots } from './codex-roots.js'
import { logPath } from './codex-seed.js'
import { CodexTranslator } from './codex-translator.js'

/** Fields of a header that tie a log to another one: with them and without the other, Codex has no history. */
const TIES = new Set(['forked_from_ordinal_exclusive', 'history_base'])
/**
 * Codex's log up to a turn, with the history that a fork left in the file of its origin: a log that stands alone. Codex's own fork
 * (`thread/fork`) chooses the id itself and reads the beginning from the source's file for as long as it lives.
 */
export function cutCodex(log: LogRef, at: CutPoint, target: CutTarget): Cut {
  const { session, environment, now } = target
  const { records, sources } = toldRecords(log)
  const kept = keptTurns(foldSession([records.flatMap(({ facts }) => facts)]), at)
  if (kept.length === 0) return { session, turns: 0, files: [] }
  const end = at.edge === 'after' ? endOf(records, at.turn) : startOf(records, at.turn)
  const ids = new Map(sources.map((source) => [source, session as string]))
  const isHeader = ({ record }: ToldRecord): boolean => record.type === 'session_meta' || isOldHeader(record)
  const header = records.findLast(isHeader)?.record
  if (!header) throw new SkeinError('bad-input', `${log.path} has no header`, 'Start a new conversation: --code-only')
  const rest = records.slice(0, end).filter((one) => !isHeader(one))
  const lines = [newHeader(header, sources.at(-1), target), ...rest.map(({ record }) => restamped(record, ids))]
  const isNumbered = lines.some(({ ordinal }) => ordinal !== undefined)
  const numbered = isNumbered ? lines.map((line, ordinal) => ({ ...line, ordinal })) : lines
  const path = logPath(codexRoots(environment)[0] ?? '', session, now)
  return { session, turns: kept.length, files: [{ path, content: asLines(numbered) }] }
}

/** The records of a log behind those of the logs that it is a fork of, as one log. */
function toldRecords(log: LogRef): { records: ToldRecord[]; sources: string[] } {
  const counters = noCounters()
  const { segments } = historyOf(log, undefined, counters)
  if (counters.missing_origins > 0) {
    const what = `${log.path} is a fork, and the log of the session that it comes from is gone`
    throw new SkeinError('session-not-found', what, 'Start a new conversation: --code-only')
  }
  const teller = new Teller(log, (setup) => new CodexTranslator(setup))
  const prelude = teller.translator.prelude()
  const records: ToldRecord[] = []
  for (const segment of segments) {
    for (const record of segment.records()) {
      prelude.next()
      records.push({ record, facts: teller.taken() })
    }
  }
  prelude.next()
  teller.taken()
  for (const record of wholeRecords(log)) records.push(teller.accept(record))
  return { records, sources: [...segments.map(({ session }) => session), log.session ?? sessionInName(log.path)] }
}

/** Until September 2025 the header was a line without an envelope. */
const isOldHeader = (record: JsonObject): boolean =>
  record.payload === undefined && record.type === undefined && record.id !== undefined

/** It names the session that it comes from, as Codex does: that one has paid for what is copied. */
function newHeader(header: JsonObject, source: string | undefined, { session, cwd, now }: CutTarget): JsonObject {
  const own = objectAt(header, 'payload')
  if (!own) return { ...header, id: session, timestamp: now }
  const payload = Object.fromEntries(Object.entries(own).filter(([key]) => !TIES.has(key)))
  const roots = listAt(own, 'runtime_workspace_roots')
  return {
    ...header,
    timestamp: now,
    payload: {
      ...payload,
      id: session,
      ...(own.session_id === undefined ? {} : { session_id: session }),
      ...(source === undefined ? {} : { forked_from_id: source }),
      timestamp: now,
      cwd,
      ...(roots.length > 0 ? { runtime_workspace_roots: [cwd] } : {}),
    },
  }
}

/** What the model reads stays as it is. */
const restamped = (record: JsonObject, ids: ReadonlyMap<string, string>): JsonObject =>
  record.type === 'response_item' || record.payload === undefined ? record : withIds(record, ids)

const eventOf = ({ record }: ToldRecord): string | undefined =>
  record.type === 'event_msg' ? textAt(objectAt(record, 'payload'), 'type') : undefined

/** Behind the last record of a turn, with the notes for the model that follow it: that it was interrupted. */
function endOf(records: readonly ToldRecord[], turn: number): number {
  const end = new TurnEnd(turn)
  const next = records.findIndex((one) => (turnBegunBy(one) ?? 0) > turn)
  const own = next < 0 ? records : records.slice(0, next)
  for (const [index, { facts }] of own.entries()) end.note(facts, index)
  let at = end.at ?? 0
  for (let one = own[at]; one && isNote(one); one = own[at]) at += 1
  return at
}

function isNote(told: ToldRecord): boolean {
  const payload = objectAt(told.record, 'payload')
  return (
    told.record.type === 'response_item' &&
    payload?.type === 'message' &&
    payload.role === 'user' &&
    told.facts.length === 0
  )
}

/** Where the task begins that a prompt belongs to. */
function startOf(records: readonly ToldRecord[], turn: number): number {
  const prompt = records.findIndex((one) => turnBegunBy(one) === turn)
  for (let at = prompt - 1; at > 0; at -= 1) {
    const one = records[at]
    if (!one || one.facts.length > 0) break
    if (eventOf(one) === 'task_started') return at
  }
  return prompt
}
