import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { expired } from '../../src/snapshots/index.js'
import { turnStart } from '../../src/snapshots/turn-start.js'

describe('the start of a turn', () => {
  it('has the arguments without secrets', () => {
    const token = 'ghp_16C7e42F292c6912E7710c838347Ae178B4a'
    const { arguments: kept } = turnStart({
      arguments: ['--model', 'opus', '--api-key', 'hunter2hunter2', `--x=${token}`],
    })
    expect(kept?.slice(0, 3)).toEqual(['--model', 'opus', '--api-key'])
    expect(kept?.join(' ')).not.toMatch(/hunter2|ghp_16/)
    expect(kept).toHaveLength(5)
  })

  it('has one hash for the files in force, which changes with each of them', () => {
    const directory = mkdtempSync(join(tmpdir(), 'skein-start-'))
    const files = ['CLAUDE.md', 'settings.json'].map((name) => join(directory, name))
    const hash = (): string | undefined => turnStart({ files }).settings_hash
    try {
      const seen = [hash()]
      for (const [at, content] of [
        [0, 'one'],
        [1, ''],
        [1, 'two'],
        [0, ''],
      ] as const) {
        writeFileSync(files[at] ?? '', content)
        expect(hash()).toBe(hash())
        seen.push(hash())
      }
      expect(new Set(seen).size).toBe(5)
    } finally {
      rmSync(directory, { recursive: true })
    }
  })
})

describe('retention', () => {
  const NOW = Date.parse('2026-06-01T00:00:00Z')
  const HOUR = 3_600_000
  const anySnapshots = fc.array(
    fc.record({
      session: fc.constantFrom('a', 'b'),
      store: fc.constantFrom('one', 'two'),
      seq: fc.integer({ min: 1, max: 500 }),
      at: fc.integer({ min: 0, max: 24 * 80 * 6 }).map((n) => new Date(NOW - n * (HOUR / 6)).toISOString()),
    }),
    { maxLength: 60 },
  )

  it('keeps all of two weeks, one an hour of two months, the newest of each session and what is referred to', () =>
    fc.assert(
      fc.property(anySnapshots, fc.integer({ min: 1, max: 5 }), (snapshots, every) => {
        const isReferred = ({ seq }: { seq: number }): boolean => seq % every === 0
        const gone = new Set(expired(snapshots, NOW, isReferred))
        const kept = snapshots.filter((one) => !gone.has(one))
        for (const one of snapshots) {
          const age = NOW - Date.parse(one.at)
          const others = kept.filter(({ session, store }) => session === one.session && store === one.store)
          if (age <= 14 * 24 * HOUR || isReferred(one)) expect(gone.has(one)).toBe(false)
          expect(others.length).toBeGreaterThan(0)
          const hour = (at: string): number => Math.floor(Date.parse(at) / HOUR)
          if (age <= 60 * 24 * HOUR) expect(others.some(({ at }) => hour(at) === hour(one.at))).toBe(true)
        }
        const old = kept.filter((one) => NOW - Date.parse(one.at) > 60 * 24 * HOUR && !isReferred(one))
        expect(old.length).toBeLessThanOrEqual(4)
        expect(expired(kept, NOW, isReferred)).toEqual([])
      }),
    ))
})
