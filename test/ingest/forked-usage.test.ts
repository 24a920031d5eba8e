import { cpSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { Ledger } from '../../src/ingest/ledger/ledger.js'
import { usageReaders } from '../../src/ingest/ledger/tool-usage.js'
import { instantOf, parseSessionId } from '../../src/model/index.js'
import { foldSession, type LogRef, placeCut } from '../../src/tools/index.js'
import { scratchDirectory, toolNamed } from '../tools/log-file.js'

const FIXTURES = join(dirname(fileURLToPath(import.meta.url)), '..', 'fixtures')
const FORK = parseSessionId('00000000-1111-4222-8333-444455556666')
const NOW = instantOf(Date.parse('2026-11-19T12:00:00.000Z'))

it.each([
  ['claude', '2.1.325/interactive-with-ai-title.jsonl'],
  ['pi', '0.87.1/2026-11-15T10-04-40-138Z_01a1deaa-8749-77be-9f6f-bc23029d0286.jsonl'],
])(
  'what a fork of %s took over was spent by the session that it is of, also while the fork has said nothing',
  async (name, file) => {
    const tool = toolNamed(name)
    const root = scratchDirectory()
    cpSync(join(FIXTURES, name), root, { recursive: true })
    // Claude Code names the file after the session.
    const named = name === 'claude' ? join(root, '77777777-7777-4777-8777-777777777777.jsonl') : join(root, file)
    if (name === 'claude') cpSync(join(root, file), named)
    const log = tool.logAt(named) as LogRef
    const { turns } = foldSession([tool.read(log)])
    const at = { turn: turns[0]?.number ?? 0, edge: 'after' as const }
    const home = scratchDirectory()
    const cut = await tool.cut?.(log, at, {
      session: FORK,
      cwd: '/work/tree',
      environment: { home, env: {} },
      now: NOW,
    })
    if (!cut) throw new Error(`${name} cannot be cut`)
    const [copy = ''] = placeCut(tool, log, at, cut)
    const owners = (...paths: string[]) => {
      const ledger = new Ledger()
      for (const path of paths)
        usageReaders()[name]?.read({ tool: name, path, stamp: path }, (telling) => ledger.tell(telling))
      return ledger
        .calls()
        .map(({ call, session }) => [call, session])
        .sort()
    }
    const alone = owners(log.path)
    expect(alone.length).toBeGreaterThan(0)
    expect(owners(log.path, copy)).toEqual(alone)
    expect(owners(copy, log.path)).toEqual(alone)
  },
)
