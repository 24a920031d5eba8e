import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { originOf } from '../../src/archive/index.js'
import { LOG_TOOLS, type LogTool } from '../../src/tools/index.js'
import { temporaryDirectory } from './corpus.js'
import { logAt, ScratchStores } from './stored-log.js'

const FIXTURES = join(import.meta.dirname, '..', 'fixtures')
const WRITTEN = new Date('2026-01-17T08:30:00Z')

const logsOf = (tool: string): string[] =>
  readdirSync(join(FIXTURES, tool), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => join(FIXTURES, tool, name))
    .filter((path) => statSync(path).isFile() && statSync(path).size > 2_000 && statSync(path).size < 150_000)
    .sort()

function copyOf(source: string): string {
  const path = join(temporaryDirectory(), basename(dirname(source)), basename(source))
  mkdirSync(dirname(path), { recursive: true })
  copyFileSync(source, path)
  utimesSync(path, WRITTEN, WRITTEN) // a log that tells no times takes the file's
  return path
}

class Interrupted extends Error {}

/** Stores of which one fails when it has been written to this often: before it stores anything, or after. */
function failing(
  stores: ScratchStores,
  at: number,
  isAfter: boolean,
): Pick<ScratchStores, 'archive' | 'history' | 'text'> {
  let left = at
  const guarded = <Store extends object>(store: Store, method: string): Store =>
    new Proxy(store, {
      get(target, name) {
        const value = Reflect.get(target, name, target)
        if (typeof value !== 'function') return value
        if (name !== method) return value.bind(target)
        return (...args: unknown[]) => {
          left -= 1
          if (left === 0 && !isAfter) throw new Interrupted()
          const done = value.apply(target, args)
          if (left !== 0) return done
          return done instanceof Promise ? done.then(() => Promise.reject(new Interrupted())) : fail()
        }
      },
    })
  const fail = (): never => {
    throw new Interrupted()
  }
  return {
    archive: guarded(stores.archive, 'write'),
    history: guarded(stores.history, 'record'),
    text: guarded(stores.text, 'record'),
  }
}

describe.each(['claude', 'codex', 'pi', 'qwen', 'gemini'])('a log of %s', (name) => {
  const tool = LOG_TOOLS.find((one) => one.name === name) as LogTool
  const logs = logsOf(name)

  it('is stored in slices as it is in one piece, and when an ingest was interrupted between any two writes', async () => {
    expect(logs.length).toBeGreaterThan(0)
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...logs),
        fc.integer({ min: 500, max: 20_000 }),
        fc.array(fc.tuple(fc.integer({ min: 1, max: 12 }), fc.boolean()), { maxLength: 3 }),
        async (source, sliceBytes, interruptions) => {
          const log = logAt(tool, copyOf(source))
          using whole = new ScratchStores(temporaryDirectory())
          await whole.read(log)
          using sliced = new ScratchStores(temporaryDirectory())
          for (const [at, isAfter] of interruptions) {
            const reading = sliced.read(log, { ...failing(sliced, at, isAfter), sliceBytes })
            await reading.catch((error: unknown) => expect(error).toBeInstanceOf(Interrupted))
          }
          await sliced.read(log, { sliceBytes })
          expect(sliced.state(log)).toEqual(whole.state(log))
          await sliced.archive.seal(sliced.archive.keyOf(originOf(log)))
          expect(sliced.state(log)).toEqual(whole.state(log))
        },
      ),
      { numRuns: 12, seed: 12 },
    )
  }, 120_000)
})

describe('a log that comes in slices and is written anew', () => {
  const tool = LOG_TOOLS.find((one) => one.name === 'claude') as LogTool
  const line = (n: number, text = `prompt ${n} ${'word '.repeat(30)}`): string =>
    `${JSON.stringify({
      ...{ type: 'user', uuid: `u${n}`, parentUuid: n === 1 ? null : `u${n - 1}`, sessionId: 's1', cwd: '/srv' },
      ...{ timestamp: new Date(1_760_000_000_000 + n * 1000).toISOString(), message: { role: 'user', content: text } },
    })}\n`
  const lines = (count: number): string => Array.from({ length: count }, (_, at) => line(at + 1)).join('')
  const options = { sliceBytes: 2_000 }

  async function rewritten(now: string): Promise<{ versions: number; prompts: number }> {
    const path = join(temporaryDirectory(), 'projects', '-srv', 's1.jsonl')
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, lines(60))
    using stores = new ScratchStores(temporaryDirectory())
    await stores.read(logAt(tool, path), options)
    writeFileSync(path, now)
    const log = logAt(tool, path)
    await stores.read(log, options)
    const key = stores.archive.keyOf(originOf(log))
    await stores.archive.seal(key)
    const content = stores.archive.read(key)
    return {
      versions: stores.archive.entry(key)?.versions.length ?? 0,
      prompts: content?.facts.filter((fact) => fact.kind === 'turn').length ?? 0,
    }
  }

  it('keeps what it said before when some of that is lacking', async () => {
    expect(await rewritten(line(1, 'something else') + lines(80).slice(line(1).length))).toEqual({
      versions: 1,
      prompts: 80,
    })
  })

  it('keeps nothing twice when all of it is still there', async () => {
    expect(await rewritten(lines(80).replace('"type":"user",', '"type": "user",'))).toEqual({
      versions: 0,
      prompts: 80,
    })
  })

  it('goes on from the last slice that was stored when it has grown since', async () => {
    const path = join(temporaryDirectory(), 'projects', '-srv', 's1.jsonl')
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, lines(60))
    using stores = new ScratchStores(temporaryDirectory())
    // The text of the second slice is the sixth write.
    const reading = stores.read(logAt(tool, path), { ...failing(stores, 6, true), ...options })
    await expect(reading).rejects.toThrow(Interrupted)
    appendFileSync(path, lines(90).slice(readFileSync(path).length))
    const log = logAt(tool, path)
    let bytes = 0
    const read = stores.history.record.bind(stores.history)
    const history = new Proxy(stores.history, {
      get(target, name) {
        const value = Reflect.get(target, name, target)
        if (name === 'record')
          return (...args: Parameters<typeof read>) => {
            bytes += args[0].reduce((sum, { rows }) => sum + rows.turns.size, 0)
            return read(...args)
          }
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    await stores.read(log, { ...options, history })
    expect(bytes).toBeLessThan(90)
    using whole = new ScratchStores(temporaryDirectory())
    await whole.read(log)
    expect(stores.state(log)).toEqual(whole.state(log))
  })
})
