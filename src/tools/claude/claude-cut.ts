import { join } from 'node:path'
import type { SessionId } from '../../model/index.js'
import type { Cut, CutPoint, CutTarget } from '../cut/cut.js'
import { keptTurns, TurnEnd } from '../cut/cut-point.js'
import { asLines, Teller, type ToldRecord, turnBegunBy, wholeRecords } from '../cut/whole-log.js'
import { type JsonObject, textAt } from '../json-value.js'
import { foldSession } from '../log/fold.js'
import { idFromName } from '../log/log-files.js'
import type { LogRef } from '../log/log-tool.js'
import { claudeProject, claudeRoots } from './claude-roots.js'
import { ClaudeTranslator } from './claude-translator.js'

/**
 * Lines without a place in the tree that hold for the whole session. The others are about requests, costs or files of the session that
 * is copied.
 */
const CARRIED = new Set(
  'mode permission-mode custom-title ai-title tag agent-color agent-name agent-setting tools-used content-replacement relocated'.split(
    ' ',
  ),
)

interface Line extends ToldRecord {
  /** Of the conversation itself; undefined for a line of a sub-agent, or of no turn. */
  turn: number | undefined
}

/**
 * Claude Code's log up to a turn, as its own fork writes one: the lines keep their ids, name the session that they come from, and have the
 * new session's id. Abandoned branches and lines of sub-agents are left out.
 */
export function cutClaude(log: LogRef, at: CutPoint, target: CutTarget): Cut {
  const lines = linesOf(log)
  const kept = keptTurns(foldSession([factsOf(lines)]), at)
  const { session, cwd, environment } = target
  if (kept.length === 0) return { session, turns: 0, files: [] }
  const wanted = new Set([0, ...kept.map(({ number }) => number)])
  const end = at.edge === 'after' ? endOf(lines, at.turn) : promptOf(lines, at.turn)
  const source = log.session ?? idFromName(log.path)
  const copied = lines.flatMap(({ record, turn }, index) => {
    const isKept = record.uuid === undefined ? isCarried(record) : turn !== undefined && wanted.has(turn)
    // Which results were replaced is noted when it is done, which may be later.
    const isNote = record.type === 'content-replacement' && isCarried(record)
    return (isKept && index < end) || isNote ? [record] : []
  })
  const records = closed(copied).map((record) => stamped(record, source, session))
  const path = join(claudeRoots(environment)[0] ?? '', 'projects', claudeProject(cwd), `${session}.jsonl`)
  return { session, turns: kept.length, files: [{ path, content: asLines(records) }] }
}

function linesOf(log: LogRef): Line[] {
  const teller = new Teller(log, (setup) => new ClaudeTranslator(setup))
  return wholeRecords(log).map((record) => {
    const told = teller.accept(record)
    const uuid = textAt(record, 'uuid')
    return {
      ...told,
      turn: uuid === undefined || record.isSidechain === true ? undefined : teller.translator.turnOf(uuid),
    }
  })
}

const factsOf = (lines: readonly Line[]) => lines.flatMap(({ facts }) => facts)

const isCarried = (record: JsonObject): boolean =>
  CARRIED.has(textAt(record, 'type') ?? '') && record.agentId === undefined && record.isSidechain !== true

function endOf(lines: readonly Line[], turn: number): number {
  const end = new TurnEnd(turn)
  for (const [index, { facts }] of lines.entries()) end.note(facts, index)
  return end.at ?? 0
}

/** Where the prompt of a turn begins: a slash command is a turn once it is answered, and was typed some lines before. */
function promptOf(lines: readonly Line[], turn: number): number {
  const byId = new Map(lines.map(({ record }, index) => [textAt(record, 'uuid') ?? '', index]))
  let index = lines.findIndex((line) => turnBegunBy(line) === turn)
  const isCommand = lines[index]?.record.type === 'assistant'
  for (;;) {
    const above = byId.get(textAt(lines[index]?.record, 'parentUuid') ?? '')
    const line = above === undefined ? undefined : lines[above]
    if (above === undefined || !line || line.facts.length > 0 || line.record.isCompactSummary === true) return index
    if (above >= index) return index // no line follows a later one, nor itself
    const isOfPrompt = isCommand ? line.record.type !== 'system' : line.record.turnCompanion === true
    if (!isOfPrompt) return index
    index = above
  }
}

/** An entry whose parent is in no line follows the entry before it: Claude Code would end the conversation there without a word. */
function closed(records: readonly JsonObject[]): JsonObject[] {
  const known = new Set<string>()
  let last: string | null = null
  return records.map((record) => {
    const uuid = textAt(record, 'uuid')
    const parent = textAt(record, 'parentUuid')
    const isLost = uuid !== undefined && parent !== undefined && !known.has(parent)
    const whole = isLost ? { ...record, parentUuid: last } : record
    if (uuid !== undefined) {
      known.add(uuid)
      last = uuid
    }
    return whole
  })
}

function stamped(record: JsonObject, source: SessionId, session: SessionId): JsonObject {
  const uuid = textAt(record, 'uuid')
  return {
    ...record,
    ...(record.sessionId === undefined ? {} : { sessionId: session }),
    ...(record.session_id === undefined ? {} : { session_id: session }),
    ...(uuid === undefined ? {} : { forkedFrom: { sessionId: source, messageUuid: uuid } }),
  }
}
