import { randomBytes, randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { Archive, originOf, type ReadMark } from '../../src/archive/index.js'
import { HistoryStore, isPart, readHistory, type Stores, TextStore } from '../../src/ingest/index.js'
import { DEFAULT_PRIVACY } from '../../src/privacy/index.js'
import { type Fact, foldSession, type LogRef, type LogTool } from '../../src/tools/index.js'

/** The three stores of a home, and what they say of a log in the end. */
export class ScratchStores implements Disposable {
  readonly archive: Archive
  readonly history: HistoryStore
  readonly text: TextStore

  constructor(readonly directory: string) {
    const context = { clock: { now: () => 0 }, random: { bytes: randomBytes, uuid: randomUUID } }
    this.archive = new Archive(join(directory, 'archive'), context)
    this.history = HistoryStore.open(join(directory, 'history.db'))
    this.text = TextStore.open(join(directory, 'text.db'))
  }

  async read(log: LogRef, some: Partial<Stores> = {}): Promise<void> {
    const { archive, history, text } = this
    const rest = { policyFor: async () => DEFAULT_PRIVACY, isOver: () => false, run: 'run', purgeFilter: undefined }
    const stores = { archive, history, text, ...rest, isCurrent: () => true, words: true, ...some }
    await readHistory(stores, [{ log }], () => {})
  }

  /** All that any of the stores keeps, whatever the order in which it was stored. */
  state(log: LogRef): object {
    const { archive, history, text } = this
    const key = archive.keyOf(originOf(log))
    const content = archive.read(key)
    const stored = text.log(log.path, log.session ?? '')
    const passages = stored ? passagesOf(text, stored.n) : []
    const rows = history.rowsOf(log.path, log.session ?? '')
    const known = history.log(log.path, log.session ?? '')
    return {
      problems: content?.problems,
      versions: archive.entry(key)?.versions.length,
      told: content && told(content.facts, content.standing),
      standing: [content?.standing.stamp, content?.standing.session, content?.standing.cwd],
      read: [known?.stamp, stored?.stamp, isPart(known?.stamp ?? ''), stored?.place === content?.standing.place],
      turns: sorted(rows?.turns ?? []),
      calls: sorted(rows?.calls ?? []),
      spent: sorted([...history.ledger.calls()]),
      passages: sorted(passages),
      counted: Number(text.fact('passages')),
    }
  }

  [Symbol.dispose](): void {
    this.text[Symbol.dispose]()
    this.history[Symbol.dispose]()
    this.archive[Symbol.dispose]()
  }
}

const sorted = (rows: readonly object[]): string[] => rows.map((row) => JSON.stringify(row)).sort()

function passagesOf(text: TextStore, log: number): object[] {
  const sql = 'select key, agent, turn, kind, tool, at_ms, block, start, length from passages where log = ?'
  const rows = text.db.all(sql, log) as { block: number; start: number; length: number }[]
  return rows.map(({ block, start, length, ...row }) => ({ ...row, text: text.textOf({ block, start, length }) }))
}

type End = Partial<Pick<ReadMark, 'counters' | 'head'>>

/** The session as it would be shown, and every word of it. */
function told(facts: readonly Fact[], { counters, head }: End): unknown {
  if (!counters || !head) throw new Error('the archive does not say how the reading ended')
  const end: Fact = { kind: 'checkpoint', resume: { v: 0, offset: 0, place: null }, counters, head }
  const { counters: _, ...session } = foldSession([[...facts, end]])
  const said = facts.flatMap((fact) => (fact.kind === 'said' ? [[`${fact.message} ${fact.part}`, fact.text]] : []))
  return { session, said: [...new Map(said as [string, string][])].sort() }
}

export function logAt(tool: LogTool, path: string): LogRef {
  const log = tool.logAt(path)
  if (!log) throw new Error(`${path} is not there`)
  return log
}
