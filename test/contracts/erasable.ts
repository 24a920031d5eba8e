import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Erasable, holdsContent, RawSearch, Sweep } from '../../src/erasure/index.js'
import { Forgetter } from '../../src/privacy/index.js'
import { proveGone } from '../../src/purge/proof.js'

/** A store of a home of its own, in which the words are. */
interface StoreWithWords extends AsyncDisposable {
  root: string
  store: Erasable
  /** Every file of the home. */
  files(): string[]
  /** Files that hold a text, found by other means than the code under test. */
  holding(text: string): string[]
}

export interface ErasableCase {
  name: string
  open(): Promise<StoreWithWords>
  /** Words that are in this store. */
  words: string
  /** A session of which it has records; undefined for a store that knows no sessions. */
  session?: string
  /** Files that may change although they hold none of the words, and why. */
  derived?: { is: (path: string) => boolean; reason: string }
}

/** Stops a sweep at the n-th place that it finds, as if its process had been killed there. */
class StoppedSweep extends Sweep {
  #left: number

  constructor(setup: ConstructorParameters<typeof Sweep>[0], places: number) {
    super(setup)
    this.#left = places
  }

  override found(path: string, count: number): void {
    if (count > 0 && this.#left-- === 0) throw new Error('stopped here')
    super.found(path, count)
  }
}

/** What every store must do that keeps words. */
export function describeErasable({ name, open, words, session, derived }: ErasableCase): void {
  const forWords = (root: string, dryRun: boolean, text = words): ConstructorParameters<typeof Sweep>[0] => ({
    root,
    forgetter: new Forgetter([], [text]),
    sessions: new Set(),
    dryRun,
    generation: 1,
  })
  const swept = async ({ root, store }: StoreWithWords, dryRun: boolean, text = words): Promise<Sweep> => {
    const sweep = new Sweep(forWords(root, dryRun, text))
    await store.erase(sweep)
    return sweep
  }
  const ownHolding = ({ store, holding }: StoreWithWords, text = words): string[] =>
    holding(text).filter((path) => store.owns(path))
  /** Of databases their side files come and go with whoever opens them. */
  const contents = ({ files }: StoreWithWords): Map<string, string> =>
    new Map(
      files()
        .filter((path) => holdsContent(path) && !/-(?:wal|journal)$/.test(path))
        .map((path) => [path, readFileSync(path, 'latin1')]),
    )
  const proved = async ({ root, store, files }: StoreWithWords): Promise<string[]> => {
    const own = files().filter((path) => store.owns(path))
    const seeking = { forgetter: new Forgetter([], [words]), raw: new RawSearch([], [words]) }
    const { left } = await proveGone(root, own, { ...seeking, except: new Set(), stores: [store] })
    return left.map(({ file }) => join(root, file))
  }

  describe(`the store ${name}`, () => {
    it('finds every file of its own that holds the words, and changes nothing on a dry run', async () => {
      await using home = await open()
      const before = contents(home)
      const { places } = await swept(home, true)
      expect(ownHolding(home).length).toBeGreaterThan(0)
      expect(places.length).toBeGreaterThan(0)
      expect(places.filter(({ file }) => !home.store.owns(join(home.root, file)))).toEqual([])
      expect(contents(home)).toEqual(before)
    })

    it('removes the words, and leaves alone what does not hold them', async () => {
      await using home = await open()
      const before = contents(home)
      const held = new Set(home.holding(words).filter((path) => home.store.owns(path)))
      const { places } = await swept(home, false)
      expect(places.length).toBeGreaterThan(0)
      expect(ownHolding(home)).toEqual([])
      const after = contents(home)
      const isPromised = (path: string): boolean => !held.has(path) && !derived?.is(path)
      for (const path of before.keys())
        if (isPromised(path)) expect([path, after.get(path)]).toEqual([path, before.get(path)])
      expect([...after.keys()].filter((path) => !before.has(path) && !home.store.owns(path))).toEqual([])
    })

    it('proves it: the proof finds the words before, and nothing after', async () => {
      await using home = await open()
      const held = ownHolding(home)
      expect((await proved(home)).sort()).toEqual(
        expect.arrayContaining(held.filter((path) => !/-(?:wal|journal)$/.test(path)).sort()),
      )
      await swept(home, false)
      expect(await proved(home)).toEqual([])
    })

    it('finds nothing the second time, and no other words the first time', async () => {
      await using home = await open()
      expect((await swept(home, false, 'nobody ever said this here')).places).toEqual([])
      await swept(home, false)
      expect((await swept(home, true)).places).toEqual([])
      expect((await swept(home, false)).places).toEqual([])
    })

    it('is finished by the next run, wherever it was stopped', async () => {
      await using counted = await open()
      const { places } = await swept(counted, true)
      const stops = [...new Set([0, Math.floor(places.length / 2), places.length - 1])]
      for (const stop of stops) {
        await using home = await open()
        await expect(home.store.erase(new StoppedSweep(forWords(home.root, false), stop))).rejects.toThrow(
          'stopped here',
        )
        await swept(home, false)
        expect(ownHolding(home)).toEqual([])
        expect(await proved(home)).toEqual([])
        expect((await swept(home, true)).places).toEqual([])
      }
    })

    if (session === undefined) return

    it('removes the records of a session, and keeps those of others', async () => {
      await using home = await open()
      const sweepSession = async (one: string, dryRun: boolean): Promise<Sweep> => {
        const setup = { ...forWords(home.root, dryRun), forgetter: new Forgetter([]), sessions: new Set([one]) }
        const sweep = new Sweep(setup)
        await home.store.erase(sweep)
        return sweep
      }
      expect((await sweepSession('no-such-session-anywhere', true)).places).toEqual([])
      const before = contents(home)
      const found = (await sweepSession(session, true)).places
      expect(found.length).toBeGreaterThan(0)
      expect(contents(home)).toEqual(before)
      await sweepSession(session, false)
      expect((await sweepSession(session, true)).places).toEqual([])
    })
  })
}
