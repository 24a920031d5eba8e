import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { buildLocalIndex } from '../../src/index/index.js'
import { answered, type Lookup } from '../../src/store/lookup.js'
import { chainsMeant, findSession, treeAround } from '../../src/store/session-lookup.js'
import { MemoryIndex } from '../contracts/memory-index.js'
import { describeSessionIndex, everything } from '../contracts/session-index.js'
import { anyHistory } from '../model/history.js'

describeSessionIndex('SQLite', async () => {
  const index = buildLocalIndex(undefined, () => {})
  return {
    index,
    apply: (events) => void index.transaction(() => index.fold(events)),
    close: () => index[Symbol.dispose](),
  }
})

describeSessionIndex('memory', async () => {
  const index = new MemoryIndex()
  return { index, apply: (events) => index.apply(events), close: () => {} }
})

it('both give the same answers, and so does every look-up, whether its answers come at once or later', () =>
  fc.assert(
    fc.asyncProperty(anyHistory(), fc.string({ maxLength: 4 }), async (events, beginning) => {
      using local = buildLocalIndex(undefined, (index) => void index.fold(events))
      const remote = new MemoryIndex()
      remote.apply(events)
      expect(await everything(local)).toEqual(await everything(remote))
      const names = [
        beginning,
        ...local.list({}).sessions.flatMap(({ id, agent = '.' }) => [id, id.slice(0, 2), agent]),
      ]
      const lookup = { agentFiles: '/nowhere', cwd: undefined }
      for (const name of names) {
        const lookUps: (() => Lookup<unknown>)[] = [
          () => findSession(name),
          () => findSession(name, lookup),
          () => treeAround(name, lookup),
          () => chainsMeant(name, lookup, 0),
        ]
        for (const make of lookUps) {
          const [now, later] = await Promise.allSettled([
            (async () => answered(make(), local))(),
            (async () => answered(make(), remote))(),
          ])
          expect(later).toEqual(now)
        }
      }
    }),
    { numRuns: 100, seed: 20 },
  ))

it('no other room names the database behind the index', () => {
  const src = join(import.meta.dirname, '..', '..', 'src')
  const naming = readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.startsWith('index/'))
    .filter((name) => /SqliteIndex|sqlite-index/.test(readFileSync(join(src, name), 'utf8')))
  expect(naming).toEqual([])
})
