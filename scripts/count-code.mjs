// Counts what tells whether code is easy to find one's way in, for each checkout that is named (this one without any), side by side:
//   node scripts/count-code.mjs [<checkout>...]
// names that each room of src exports, functions over 60 lines, files over 400, import cycles, and pairs that the `duplicates` command
// finds where it is installed.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseSync } from 'rolldown/utils'

const LONG_FUNCTION = 60
const LONG_FILE = 400
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
  const files = sourcesBelow(src).map((path) => readSource(src, path))
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

function sourcesBelow(directory) {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))
    .sort()
    .map((name) => join(directory, name))
}

/** What one file exports, takes from others at its start, and has for functions. */
function readSource(src, path) {
  const text = readFileSync(path, 'utf8')
  const name = relative(src, path)
  const { program } = parseSync(path, text)
  const lineOf = (offset) => text.slice(0, offset).split('\n').length
  const targetOf = (specifier) => join(dirname(name), specifier).replace(/\.js$/, '.ts')
  const file = { name, room: name.includes('/') ? name.split('/')[0] : '', lines: lineOf(text.length) - 1 }
  const [imports, exports, passedOn, functions] = [new Set(), new Set(), [], []]
  for (const node of program.body) {
    const from = node.source?.value
    const isRelative = from?.startsWith('.')
    const isType = node.importKind === 'type' || node.exportKind === 'type'
    if (isRelative && !isType && !isOfTypes(node)) imports.add(targetOf(from))
    if (node.type === 'ExportAllDeclaration' && isRelative) passedOn.push(targetOf(from))
    if (node.type === 'ExportNamedDeclaration') for (const one of exportedBy(node)) exports.add(one)
    if (node.type === 'ExportDefaultDeclaration') exports.add('default')
  }
  visit(program, undefined, (node, called) => {
    const lines = lineOf(node.end) - lineOf(node.start) + 1
    functions.push({ called: called ?? `line ${lineOf(node.start)}`, lines })
  })
  return { ...file, imports, exports, passedOn, functions }
}

/** `import { type A, type B }` loads nothing either. */
function isOfTypes({ specifiers = [] }) {
  return specifiers.length > 0 && specifiers.every((one) => one.importKind === 'type' || one.exportKind === 'type')
}

function exportedBy({ declaration, specifiers }) {
  if (!declaration) return specifiers.map(({ exported }) => exported.name ?? exported.value)
  if (declaration.declarations) return declaration.declarations.map(({ id }) => id.name ?? '(pattern)')
  return [declaration.id.name]
}

/** Calls back for each function, with the name that it is known by. */
function visit(node, called, found) {
  if (Array.isArray(node)) for (const one of node) visit(one, called, found)
  if (!node || typeof node.type !== 'string') return
  const named = node.id?.name ?? node.key?.name ?? called
  if (/^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(node.type)) found(node, named)
  const inside = node.type.includes('Function') ? undefined : named
  for (const [key, value] of Object.entries(node))
    if (value && typeof value === 'object' && key !== 'id') visit(value, inside, found)
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
