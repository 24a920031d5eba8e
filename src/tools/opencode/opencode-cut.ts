import { join } from 'node:path'
import { type SessionId, SkeinError } from '../../model/index.js'
import type { Cut, CutPoint, CutTarget } from '../cut/cut.js'
import { keptTurns } from '../cut/cut-point.js'
import {
  MOST_COPIED_BYTES,
  Teller,
  type ToldRecord,
  tooLarge,
  turnBegunBy,
  wholeDocument,
  withIds,
} from '../cut/whole-log.js'
import { isObject, type JsonObject, listAt, numberAt, objectAt, textAt } from '../json-value.js'
import { foldSession } from '../log/fold.js'
import type { LogRef } from '../log/log-tool.js'
import { OpencodeDatabase, UNREADABLE, unreadable } from './opencode-database.js'
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
  const messages = upTo(told, at).filter((record) => objectAt(record, 'message'))
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
  if (log.path.endsWith('.json')) return [...exportRecords(wholeDocument(log) ?? {})]
  try {
    return storedRecords(log)
  } catch (error) {
    throw notCopied(error, log.path)
  }
}

function storedRecords({ path, session: id }: LogRef): JsonObject[] {
  using database = new OpencodeDatabase(path)
  const session = id && database.session(id)
  if (!id || !isObject(session)) return []
  const records: JsonObject[] = [{ session }]
  let characters = 0
  for (const { record, size } of database.changedSince(id, () => true)) {
    characters += size
    if (characters > MOST_COPIED_BYTES) throw tooLarge(path)
    if (record) records.push({ ...record, parts: listAt(record, 'parts').filter(isReadable) })
  }
  database.assertSame()
  return records
}

/** What is no JSON, or is too long to be a text, says nothing to any reader; the program would refuse the whole copy because of it. */
const isReadable = (part: unknown): boolean => isObject(part) && part.type !== UNREADABLE

function notCopied(error: unknown, path: string): unknown {
  const why = error instanceof SkeinError ? error : unreadable(error, path)
  const reason = (why as NodeJS.ErrnoException).code
  if (why instanceof SkeinError || why instanceof RangeError || reason === undefined) return why
  const next = 'Try again once no other program holds it, or start a new conversation: --code-only'
  return new SkeinError('bad-input', `${path} cannot be read: ${reason}`, next, { cause: error })
}

/**
 * The records of the turns up to a point. A reply belongs to the prompt that it names, wherever it stands: a prompt that was typed while
 * the program worked may stand before the reply to the one before. A summary that nothing of the turn follows is not part of it.
 */
function upTo(told: readonly ToldRecord[], { turn, edge }: CutPoint): JsonObject[] {
  const last = told.findLastIndex((one) => turnIn(one) === turn && !isSummary(one))
  let newest = 0
  return told.flatMap((one, index) => {
    newest = Math.max(newest, turnBegunBy(one) ?? 0)
    const of = turnIn(one) ?? newest
    return of < turn || (of === turn && edge === 'after' && index <= last) ? [one.record] : []
  })
}

function turnIn({ facts }: ToldRecord): number | undefined {
  const own = facts.find((fact) => 'turn' in fact)
  return own && 'turn' in own ? own.turn : undefined
}

const isSummary = ({ facts }: ToldRecord): boolean =>
  facts.some((fact) => fact.kind === 'mark' && fact.mark === 'compacted')

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
