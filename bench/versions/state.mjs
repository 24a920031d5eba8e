// What a home holds, as its program tells it and as its files are: what must not change when a newer program opens it.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { around } from './around.mjs'

const QUESTIONS = [
  ['sessions', 'list', '--all'],
  ['list', '--all'],
  ['agents', 'list'],
  ['group', 'list'],
  ['cost', '--by', 'session'],
  ['cost', '--by', 'model'],
  ['archive', 'list'],
  ['archive', 'verify'],
  ['search', 'the', '--limit', '500'],
  ['search', 'mutex', '--limit', '500'],
  ['conversations', 'list', '--limit', '500'],
  ['events', 'tail', '-n', '100000'],
  ['privacy', 'audit', '--by', 'session'],
]

/** Files that are the record itself; the others are derived from them, or settings. */
const RECORD = /^profiles\/[^/]+\/(events|archive|conversations)\//

/** @param {import('./program.mjs').Program} program */
export function stateOf(program) {
  const told = QUESTIONS.map((args) => {
    const { exit, stdout } = program.run([...args, '--json'])
    return [`skein ${args.join(' ')} --json`, `${exit}\n${stdout}`]
  })
  const skein = join(program.home, 'skein')
  const files = filesBelow(skein)
    .map((file) => relative(skein, file))
    .filter((name) => RECORD.test(name) && !/-(wal|shm)$|\.lock$/.test(name))
    .map((name) => [
      name,
      createHash('sha256')
        .update(readFileSync(join(skein, name)))
        .digest('hex'),
    ])
  return new Map([...told, ...files])
}

export function compareState(title, before, after) {
  const names = new Set([...before.keys(), ...after.keys()])
  const different = [...names].filter((name) => before.get(name) !== after.get(name))
  console.log(`${title}: ${names.size - different.length} of ${names.size} answers and files are the same`)
  for (const name of different) {
    const what = !before.has(name) ? 'is new' : !after.has(name) ? 'is gone' : 'differs'
    console.log(`  ${what}: ${name}`)
    if (what === 'differs' && name.startsWith('skein ')) {
      const [one, other] = [before, after].map((state) => state.get(name).split('\n'))
      const line = one.findIndex((text, row) => text !== other[row])
      console.log(`    old: ${around(one[line], other[line])}\n    new: ${around(other[line], one[line])}`)
    }
  }
  return different.length
}

function filesBelow(directory) {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) return filesBelow(path)
    return entry.isFile() ? [path] : []
  })
}
