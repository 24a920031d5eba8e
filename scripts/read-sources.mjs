// What the files of src are made of: for `count-code.mjs`, and for the test of the limits.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { parseSync } from 'rolldown/utils'

/** A function of more lines is split. */
export const LONG_FUNCTION = 60
/** A file of more lines says why in its first comment. */
export const LONG_FILE = 400

/** Every file, with what it exports, takes from others at its start, and has for functions. */
export function readSources(src) {
  return sourcesBelow(src).map((path) => readSource(src, path))
}

function sourcesBelow(directory) {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))
    .sort()
    .map((name) => join(directory, name))
}

function readSource(src, path) {
  const text = readFileSync(path, 'utf8')
  const name = relative(src, path)
  const { program } = parseSync(path, text)
  const lineOf = (offset) => text.slice(0, offset).split('\n').length
  const targetOf = (specifier) => join(dirname(name), specifier).replace(/\.js$/, '.ts')
  const file = { name, room: name.includes('/') ? name.split('/')[0] : '', lines: lineOf(text.length) - 1 }
  const [imports, exports, passedOn, functions, unheld] = [new Set(), new Set(), [], [], []]
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
    if (node.async) for (const one of unheldReturns(node.body)) unheld.push(lineOf(one.start))
  })
  return { ...file, text, imports, exports, passedOn, functions, unheld }
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

/**
 * Calls that an async function returns without waiting, behind a `using` of the same or an outer block: what is held is given up before
 * the call is done.
 */
function unheldReturns(node, isHolding = false) {
  if (Array.isArray(node)) {
    let holds = isHolding
    return node.flatMap((one) => {
      if (one?.type === 'VariableDeclaration' && /using$/.test(one.kind)) holds = true
      return unheldReturns(one, holds)
    })
  }
  if (!node || typeof node.type !== 'string' || node.type.includes('Function')) return []
  if (isHolding && node.type === 'ReturnStatement' && returnsCall(node.argument)) return [node]
  return Object.values(node).flatMap((value) =>
    value && typeof value === 'object' ? unheldReturns(value, isHolding) : [],
  )
}

function returnsCall(node) {
  if (node?.type === 'ConditionalExpression') return returnsCall(node.consequent) || returnsCall(node.alternate)
  if (node?.type === 'LogicalExpression') return returnsCall(node.right)
  return node?.type === 'CallExpression'
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
