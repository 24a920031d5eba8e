import { createHash } from 'node:crypto'
import { cpSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { instantOf, parseSessionId } from '../../../src/model/index.js'
import {
  type CutTarget,
  foldSession,
  type LoggedTurn,
  type LogRef,
  type LogTool,
  placeCut,
} from '../../../src/tools/index.js'
import { prompts, scratchDirectory, toolNamed } from '../log-file.js'

const FIXTURES = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'fixtures')
const SESSION = parseSessionId('c0ffee00-1111-4222-8333-444455556666')
const NOW = instantOf(Date.parse('2026-11-16T12:00:00.000Z'))

/** A copy of all recorded logs of a tool: a cut must not be able to change the recordings. */
function recordings(name: string): { tool: LogTool; root: string; logs: LogRef[] } {
  const tool = toolNamed(name)
  const root = join(scratchDirectory(), name)
  cpSync(join(FIXTURES, name), root, { recursive: true })
  const files = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(?:jsonl|json|db)$/.test(entry.name))
    .filter((entry) => !/\/(?:hooks|panes|subagents|registry|statusline)(?:\/|$)/.test(`${entry.parentPath}/`))
    .filter((entry) => !/expect\.json$|^agent-/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
  const logs = files.flatMap((path) => (tool.logsIn && path.endsWith('.db') ? tool.logsIn(path) : [tool.logAt(path)]))
  return { tool, root, logs: logs.filter((log) => log !== undefined) }
}

function targetIn(home: string): CutTarget {
  return { session: SESSION, cwd: '/srv/tree', environment: { home, env: {} }, now: NOW }
}

const hashOf = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex')
const turnsOf = (tool: LogTool, log: LogRef): LoggedTurn[] => foldSession([tool.read(log)]).turns

/** The turns on the way to one, itself included. */
function wayTo(turns: readonly LoggedTurn[], number: number): LoggedTurn[] {
  const turn = turns.find((one) => one.number === number)
  return turn ? [...wayTo(turns, turn.follows), turn] : []
}

const isOpen = ({ tool_calls, outcome, reply }: LoggedTurn): boolean =>
  tool_calls.some(({ result }) => result === undefined) || (outcome === 'open' && reply === undefined)

describe.each(['claude', 'codex', 'gemini', 'opencode', 'pi'])('the recorded logs of %s', (name) => {
  it('are cut at every turn, both ways, and say then what they said up to there', async () => {
    const { tool, logs } = recordings(name)
    let cuts = 0
    for (const log of logs) {
      const before = hashOf(log.path)
      const turns = turnsOf(tool, log)
      for (const turn of turns) {
        for (const edge of ['before', 'after'] as const) {
          const home = scratchDirectory()
          const at = { turn: turn.number, edge }
          const cut = async (): Promise<string[]> => {
            if (!tool.cut) throw new Error(`${name} cannot be cut`)
            const made = await tool.cut(log, at, targetIn(home))
            const kept = edge === 'after' ? wayTo(turns, turn.number) : wayTo(turns, turn.follows)
            expect(made.turns).toBe(kept.length)
            if (made.import) made.files = made.files.map((file) => ({ ...file, path: join(home, 'import.json') }))
            const placed = placeCut(tool, log, at, made)
            const [path] = placed
            if (kept.length === 0) return placed
            const copy = tool.logAt(path ?? '')
            expect(copy && prompts(foldSession([tool.read(copy)])).length).toBeGreaterThanOrEqual(kept.length)
            expect(statSync(path ?? '').mode & 0o777).toBe(0o600)
            expect(tool.identify(copy as LogRef).id).toBe(made.session)
            return placed
          }
          if (tool.lacksHistory?.(log)) {
            await expect(cut()).rejects.toMatchObject({ code: 'session-not-found' })
          } else if (edge === 'after' && isOpen(turn)) {
            await expect(cut()).rejects.toMatchObject({ code: 'turn-open' })
          } else {
            cuts += 1
            await expect(cut(), `${log.path} ${edge} ${turn.number}`).resolves.toBeDefined()
          }
        }
      }
      expect(hashOf(log.path), log.path).toBe(before)
    }
    expect(cuts).toBeGreaterThan(5)
  })
})
