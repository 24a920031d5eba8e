import { spawn, spawnSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { sweepForks } from '../../../src/lifecycle/index.js'
import type { UnpackStep } from '../../../src/lifecycle/pack/unpack.js'
import { bundled } from '../bundled.js'
import { eventually, workshop } from '../workshop.js'
import { claudeLike, filesOf, git, leftIn, NOTHING, packable, packed, SESSION } from './packable.js'

const STEPS: readonly UnpackStep[] = [
  ...(['directory', 'code', 'record', 'agent', 'session', 'conversation', 'bind', 'end'] as const),
]
const unpacker = bundled(fileURLToPath(new URL('killed-unpack.ts', import.meta.url)))
const scratches = (directory: string): string[] => readdirSync(directory).filter((name) => name.startsWith('skein-'))
const packer = bundled(fileURLToPath(new URL('killed-pack.ts', import.meta.url)))

describe('an unpacking', () => {
  it('that fails or is killed in any step leaves nothing but the record that there was one', async () => {
    const shop = await packable()
    await packed(shop)
    for (const how of ['fails', 'is killed'] as const)
      for (const step of STEPS) {
        const other = await workshop({ runners: [claudeLike()] })
        const into = join(other.root, 'there')
        if (how === 'is killed') {
          const env = { PATH: process.env.PATH, HOME: other.root }
          const { signal } = spawnSync(process.execPath, [unpacker(), other.root, shop.file, into, step], { env })
          expect(signal, step).toBe('SIGKILL')
          await sweepForks(other.parts)
        } else {
          const onStep = (one: string): void => {
            if (one === step) throw new Error('broken')
          }
          await expect(other.agents.unpack({ file: shop.file, into, onStep })).rejects.toThrow('broken')
        }
        const { sessions, logs: _emptied, ...left } = (await leftIn(other)) as { sessions: string[]; logs: string[] }
        const { sessions: _none, logs: _no, ...nothing } = NOTHING
        expect(left, `${how} in ${step}`).toEqual(nothing)
        for (const id of sessions) expect((await other.home.sessions.find(id)).ended_at, id).toBeDefined()
        const logs = readdirSync(other.root, { recursive: true, encoding: 'utf8' })
        expect(logs.filter((name) => /\.claude\/.*jsonl/.test(name))).toEqual([])
      }
  }, 180_000)

  it('refuses a pack with a flipped byte at any of 50 places, and changes nothing', async () => {
    const shop = await packable()
    const { sha256 } = await packed(shop)
    const whole = readFileSync(shop.file)
    expect(createHash('sha256').update(whole.subarray(0, -32)).digest('hex')).toBe(sha256)
    const other = await workshop({ runners: [claudeLike()] })
    const damaged = join(other.root, 'damaged.skein')
    let seed = 18
    for (let n = 0; n < 50; n += 1) {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
      const bytes = Buffer.from(whole)
      const at = seed % bytes.length
      bytes[at] = (bytes[at] ?? 0) ^ (1 << (n % 8))
      writeFileSync(damaged, bytes)
      const refused = other.agents.unpack({ file: damaged, into: join(other.root, 'there') })
      await expect(refused, `byte ${at} of ${bytes.length}`).rejects.toMatchObject({
        code: expect.stringMatching(/^(?:pack-damaged|bad-input|newer-format)$/),
      })
    }
    expect(await leftIn(other)).toEqual(NOTHING)
  })
})

describe('a pack', () => {
  it('that is killed in the middle leaves the file that was there, and is written the next time', async () => {
    const shop = await packable()
    writeFileSync(join(shop.project, 'large'), randomBytes(24 * 1024 * 1024))
    const at = { directory: shop.project, session: SESSION, moment: 'stop' as const }
    await shop.home.snapshots.capture({ ...at, asOfMs: Date.UTC(2026, 10, 16, 8, 0, 34) })
    const out = join(shop.root, 'out')
    mkdirSync(out)
    const file = join(out, 'session.skein')
    writeFileSync(file, 'the one before')
    const env = { PATH: process.env.PATH, HOME: shop.root, TMPDIR: shop.root }
    const child = spawn(process.execPath, [packer(), shop.root, SESSION, file], { env, stdio: 'ignore' })
    await eventually(
      () => readdirSync(out).length > 1 || child.exitCode !== null,
      (isWriting) => isWriting,
    )
    child.kill('SIGKILL')
    await once(child, 'close')
    expect(child.signalCode).toBe('SIGKILL')
    expect(readFileSync(file, 'utf8')).toBe('the one before')
    // What it had begun is in a scratch directory, which another pack removes once it cannot be one that is just being made.
    const left = scratches(shop.root)
    expect(left).toHaveLength(1)
    const old = new Date(Date.now() - 3_600_000)
    utimesSync(join(shop.root, left[0] ?? ''), old, old)
    const again = spawnSync(process.execPath, [packer(), shop.root, SESSION, `${file}-2`], { env })
    expect([again.status, scratches(shop.root)]).toEqual([0, []])
    await packed({ ...shop, file }, { force: true })
    const other = await workshop({ runners: [claudeLike()] })
    await other.agents.unpack({ file, into: join(other.root, 'there') })
    expect(existsSync(join(other.root, 'there', 'file-3.txt'))).toBe(true)
  }, 120_000)

  it('names a repository inside, which it does not carry', async () => {
    const shop = await packable()
    const inner = join(shop.project, 'inner')
    mkdirSync(inner)
    git(inner, 'init', '-q')
    writeFileSync(join(inner, 'deep.txt'), 'deep\n')
    git(inner, 'add', '.')
    git(inner, 'commit', '-q', '-m', 'inner')
    const at = { directory: shop.project, session: SESSION, moment: 'stop' as const }
    await shop.home.snapshots.capture({ ...at, asOfMs: Date.UTC(2026, 10, 16, 8, 0, 34) })
    await packed(shop)
    const other = await workshop({ runners: [claudeLike()] })
    const made = await other.agents.unpack({ file: shop.file, into: join(other.root, 'there') })
    expect(made.missing).toContainEqual({ path: 'inner', reason: 'nested' })
    expect(filesOf(join(other.root, 'there'))).not.toContain('inner')
  })
})
