import { join } from 'node:path'
import type { SessionId } from '../../model/index.js'
import type { Cut, CutPoint, CutTarget } from '../cut/cut.js'
import { keptTurns, TurnEnd } from '../cut/cut-point.js'
import { Teller, type ToldRecord, turnBegunBy, withIds } from '../cut/whole-log.js'
import { isObject, type JsonObject, listAt, numberAt, objectAt, textAt } from '../json-value.js'
import { foldSession } from '../log/fold.js'
import { smallJson } from '../log/log-files.js'
import type { LogRef } from '../log/log-tool.js'
import { OpencodeDatabase } from './opencode-database.js'
import { copiedId, opencodeId } from './opencode-id.js'
import { exportRecords } from './opencode-records.js'
import { OpencodeTranslator } from './opencode-translator.js'

/**
 * opencode's session up to a turn, in the form of `opencode export`, for `opencode import` to take in. The fork of its API makes the same
 * copy, but in the directory of the source and under an id of its own choice. Messages that were taken back (`revert`) are like all others.
 */
export function cutOpencode(log: LogRef, at: CutPoint, target: CutTarget): Cut {
  const session = opencodeId(target.session)
  const teller = new Teller(log, (setup) => new OpencodeTranslator(setup))
  const told = recordsOf(log).map((record) => teller.accept(record))
  const kept = keptTurns(foldSession([told.flatMap(({ facts }) => facts)]), at)
  if (kept.length === 0) return { session, turns: 0, files: [] }
  const end = at.edge === 'after' ? endOf(told, at.turn) : told.findIndex((one) => turnBegunBy(one) === at.turn)
  const messages = told.slice(0, end).flatMap(({ record }) => (objectAt(record, 'message') ? [record] : []))
  const source = told.map(({ record }) => objectAt(record, 'session')).find((one) => one !== undefined)
  const document = { info: infoOf(source, session, target), messages: copiesOf(messages, session) }
  // Beside the database: its directory is the tool's own, and readable by its user alone.
  const path = join(log.root, `${session}.json`)
  return {
    session,
    turns: kept.length,
    files: [{ path, content: `${JSON.stringify(document)}\n` }],
    import: { argv: ['opencode', 'import', path], cwd: target.cwd },
  }
}

function recordsOf(log: LogRef): JsonObject[] {
  if (log.path.endsWith('.json')) return [...exportRecords(smallJson(log.path) ?? {})]
  using database = new OpencodeDatabase(log.path)
  const session = log.session && database.session(log.session)
  if (!log.session || !isObject(session)) return []
  const messages = [...database.changedSince(log.session, () => true)].flatMap(({ record }) => (record ? [record] : []))
  database.assertSame()
  return [{ session }, ...messages]
}

/** Behind all messages of the turn: a reply is told where its message is created. */
function endOf(told: readonly ToldRecord[], turn: number): number {
  const end = new TurnEnd(turn)
  for (const [index, { facts }] of told.entries()) end.note(facts, index)
  return end.at ?? 0
}

function infoOf(source: JsonObject | undefined, session: SessionId, { now }: CutTarget): JsonObject {
  const ms = Date.parse(now)
  return {
    id: session,
    slug: textAt(source, 'slug') ?? session.slice(0, 12),
    title: textAt(source, 'title') ?? 'fork',
    version: textAt(source, 'version') ?? '0.0.0',
    time: { created: ms, updated: ms },
  }
}

function copiesOf(messages: readonly JsonObject[], session: SessionId): JsonObject[] {
  const ids = new Map<string, string>()
  const parts = messages.map((one) => listAt(one, 'parts').filter(isObject))
  for (const [nth, record] of messages.entries()) {
    const message = objectAt(record, 'message')
    const ms = numberAt(objectAt(message, 'time'), 'created') ?? 0
    const note = (kind: 'msg' | 'prt', from: JsonObject | undefined, at: number): void => {
      const id = textAt(from, 'id')
      if (id !== undefined) ids.set(id, copiedId(id, kind, session, { ms, nth: at }))
    }
    note('msg', message, nth)
    for (const [index, part] of (parts[nth] ?? []).entries()) note('prt', part, index)
  }
  return messages.map((record, nth) => {
    const info = withIds(objectAt(record, 'message') ?? {}, ids)
    const of = { sessionID: session, messageID: info.id }
    return {
      info: { ...info, sessionID: session },
      parts: (parts[nth] ?? []).map((part) => ({ ...withIds(part, ids), ...of })),
    }
  })
}
