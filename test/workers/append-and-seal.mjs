// Adds one prompt after the other to an archived log and seals it now and then, until it is killed. Says each number when it is safe.
//   node append-and-seal.mjs <archive directory> <first number>
import { randomBytes, randomUUID } from 'node:crypto'
import { writeSync } from 'node:fs'
import { Archive, originOf } from '../../dist/archive.js'

const [directory, first] = process.argv.slice(2)
const archive = new Archive(directory, { clock: { now: Date.now }, random: { bytes: randomBytes, uuid: randomUUID } })
const log = {
  tool: 'claude',
  path: '/logs/one.jsonl',
  root: '/logs',
  size: 1,
  stamp: '',
  modified_at: '2026-01-17T09:30:00.000Z',
}
const key = archive.keyOf(originOf(log))
for (let n = Number(first); ; n += 1) {
  const from = archive.standing(key)?.place
  const fact = {
    kind: 'turn',
    turn: n,
    prompt: `prompt ${n} ${'x'.repeat(n % 7 === 0 ? 200_000 : 40)}`,
    by: 'person',
    follows: n - 1,
  }
  const standing = { place: `place ${n}`, stamp: `${n}`, size: n, modified_at: log.modified_at }
  const dropped = await archive.write([
    { log, from, isWhole: from === undefined, isOver: false, facts: [fact], standing },
  ])
  if (dropped.length > 0) throw new Error('nobody else writes here')
  writeSync(1, `${n}\n`)
  if (n % 5 === 0) await archive.seal(key)
  if (n % 11 === 0) await archive.tidy()
}
