import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ArchiveReader } from '../../src/archive/index.js'
import { seededRandom } from '../support/random.js'
import { scratch } from './scratch-archive.js'

const WORKER = join(import.meta.dirname, '..', 'workers', 'append-and-seal.mjs')
const KILLS = 30

/** Runs until it is killed; returns the last number that was said to be safe. */
async function killed(directory: string, first: number, afterMs: number): Promise<number> {
  const child = spawn(process.execPath, [WORKER, directory, String(first)], { stdio: ['ignore', 'pipe', 'inherit'] })
  let said = ''
  child.stdout.on('data', (data) => {
    said += String(data)
  })
  await new Promise((resolve) => child.stdout.once('data', resolve))
  await new Promise((resolve) => setTimeout(resolve, afterMs))
  child.kill('SIGKILL')
  await new Promise((resolve) => child.on('close', resolve))
  return Number(said.trimEnd().split('\n').at(-1))
}

it('killed while it adds and seals, has every piece that was safe, none twice, and can go on', async () => {
  const random = seededRandom()
  const directory = scratch()
  const key = new ArchiveReader(directory).keyOf({ tool: 'claude', path: '/logs/one.jsonl', part: '' })
  let next = 1
  for (let kill = 0; kill < KILLS; kill += 1) {
    const safe = await killed(directory, next, random(60))
    const content = new ArchiveReader(directory).read(key)
    const numbers = content?.facts.map((fact) => (fact.kind === 'turn' ? fact.turn : 0)) ?? []
    expect(content?.problems).toEqual([])
    expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, at) => at + 1))
    expect(numbers.length).toBeGreaterThanOrEqual(safe)
    expect(content?.standing).toMatchObject({ facts: numbers.length, place: `place ${numbers.length}` })
    next = numbers.length + 1
  }
  const ours = readdirSync(join(directory, 'claude')).filter((name) => !name.includes('.tmp-'))
  expect(ours.every((name) => /\.(live|sealed)$/.test(name))).toBe(true)
}, 120_000)
