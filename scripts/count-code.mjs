// Counts what tells whether code is easy to find one's way in, for each checkout that is named (this one without any), side by side:
//   node scripts/count-code.mjs [<checkout>...]
// names that each room of src exports, functions over 60 lines, files over 400, import cycles, and pairs that the `duplicates` command
// finds where it is installed.
import { spawnSync } from 'node:child_process'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { LONG_FILE, LONG_FUNCTION, readSources } from './read-sources.mjs'

const own = dirname(dirname(fileURLToPath(import.meta.url)))
const checkouts = process.argv.length > 2 ? process.argv.slice(2).map((path) => resolve(path)) : [own]

const counted = checkouts.map(count)
const names = [...new Set(counted.flatMap(({ rows }) => [...rows.keys()]))]
console.log(`${''.padEnd(34)}${checkouts.map((path) => basename(path).padStart(14)).join('')}`)
for (const name of names)
  console.log(`${name.padEnd(34)}${counted.map(({ rows }) => String(rows.get(name) ?? '-').padStart(14)).join('')}`)
for (const [at, { lists }] of counted.entries()) {
  for (const [title, items] of Object.entries(lists)) {
    if (items.length === 0) continue
    console.log(`\n${basename(checkouts[at])}: ${title}`)
    for (const item of items) console.log(`  ${item}`)
  }
}

function count(checkout) {
  const src = join(checkout, 'src')
  const files = readSources(src)
  const rooms = [...new Set(files.map(({ room }) => room))].filter((room) => room !== '').sort()
  const surfaces = rooms.map((room) => [room, surfaceOf(files, `${room}/index.ts`)])
  const functions = files.flatMap(({ name, functions }) =>
    functions
      .filter(({ lines }) => lines > LONG_FUNCTION)
      .map(({ called, lines }) => `${name}: ${called}, ${lines} lines`),
  )
  const long = files.filter(({ lines }) => lines > LONG_FILE).map(({ name, lines }) => `${name}: ${lines} lines`)
  const cycles = cyclesIn(files)
  const rows = new Map([
    ['files', files.length],
    ['lines', files.reduce((sum, { lines }) => sum + lines, 0)],
    ['rooms', rooms.length],
    [`functions over ${LONG_FUNCTION} lines`, functions.length],
    [`files over ${LONG_FILE} lines`, long.length],
    ['import cycles (groups of files)', cycles.length],
    ['pairs of duplicates in src', duplicatesIn(src)],
    ['exported from rooms, together', surfaces.reduce((sum, [, exported]) => sum + exported.size, 0)],
    ...surfaces.map(([room, exported]) => [`  exported from ${room}`, exported.size]),
  ])
  return { rows, lists: { 'long functions': functions, 'long files': long, 'import cycles': cycles } }
}

/** What a file exports, itself and from others. */
function surfaceOf(files, name, seen = new Set()) {
  const file = files.find((one) => one.name === name)
  if (!file || seen.has(name)) return new Set()
  seen.add(name)
  return new Set([...file.exports, ...file.passedOn.flatMap((one) => [...surfaceOf(files, one, seen)])])
}

/** Groups of files that reach each other, by Tarjan's algorithm. Imports of types, and those that are made on demand, tie nothing. */
function cyclesIn(files) {
  const known = new Map(files.map((file) => [file.name, file]))
  const [order, low, stack, groups] = [new Map(), new Map(), [], []]
  const walk = (name) => {
    order.set(name, order.size)
    low.set(name, order.get(name))
    stack.push(name)
    for (const next of known.get(name).imports) {
      if (!known.has(next)) continue
      if (!order.has(next)) walk(next)
      if (stack.includes(next)) low.set(name, Math.min(low.get(name), low.get(next)))
    }
    if (low.get(name) !== order.get(name)) return
    const group = stack.splice(stack.indexOf(name))
    if (group.length > 1) groups.push(group.join(', '))
  }
  for (const { name } of files) if (!order.has(name)) walk(name)
  return groups
}

/** The command counts in its first line. */
function duplicatesIn(src) {
  const { stdout, error } = spawnSync('duplicates', ['--repo', src, '--most', '1', '--seconds', '120'], {
    encoding: 'utf8',
  })
  if (error) return 'not asked'
  const [, pairs = 0, byShape = 0] = /(\d+) pairs?.*\((\d+) by shape alone/.exec(stdout) ?? []
  return `${pairs} (${pairs - byShape} exact)`
}
