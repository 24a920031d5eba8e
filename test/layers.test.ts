import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { LAYERS } from './support/layers.js'

const SRC = join(dirname(fileURLToPath(import.meta.url)), '..', 'src')

interface Crossing {
  from: string
  to: string
  file: string
}

function crossings(): Crossing[] {
  return sources().flatMap((path) => {
    const folder = relative(SRC, path).split('/')
    if (folder.length < 2) return [] // the entry points may use everything
    return [...readFileSync(path, 'utf8').matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)].flatMap(([, target = '']) => {
      const inside = relative(SRC, resolve(dirname(path), target)).split('/')
      return inside[0] === folder[0]
        ? []
        : [{ from: folder[0] ?? '', to: inside[0] ?? '', file: inside.slice(1).join('/') }]
    })
  })
}

const sources = (): string[] =>
  readdirSync(SRC, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(SRC, name))
const level = (folder: string): number => LAYERS.findIndex((layer) => layer.includes(folder))

it('every folder of src has its place in the layer list', () => {
  const folders = readdirSync(SRC, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  expect(folders.map((entry) => entry.name).filter((name) => level(name) < 0)).toEqual([])
})

it('imports point down the layer list and enter a folder through its index.ts', () => {
  expect(crossings().length).toBeGreaterThan(0)
  expect(crossings().filter((c) => level(c.to) >= level(c.from) || c.file !== 'index.js')).toEqual([])
})

it('the clock, the environment and the working directory are read at the entry points only', () => {
  const hidden = /process\.env|process\.cwd\(|Date\.now\(|Math\.random\(\)(?!.*lock)|homedir\(/
  const entries = new Set([
    'main.ts',
    'daemon-main.ts',
    'statusline-main.ts',
    'hook-main.ts',
    'library.ts',
    'surroundings.ts',
  ])
  const found = sources().filter((path) => !entries.has(relative(SRC, path)) && hidden.test(readFileSync(path, 'utf8')))
  expect(found.map((path) => relative(SRC, path)).sort()).toEqual([
    'conversations/environment.ts', // the original's functions take no context: their defaults come from here
    'disk/lock.ts',
  ])
})

it('no file imports itself by way of others', () => {
  const imports = new Map(sources().map((path) => [path, neededBy(path)]))
  const [open, done] = [new Set<string>(), new Set<string>()]
  const cycles: string[] = []
  const visit = (path: string): void => {
    if (open.has(path)) {
      const way = [...open]
      cycles.push([...way.slice(way.indexOf(path)), path].map((one) => relative(SRC, one)).join(' -> '))
    }
    if (open.has(path) || done.has(path)) return
    open.add(path)
    for (const target of imports.get(path) ?? []) visit(target)
    open.delete(path)
    done.add(path)
  }
  for (const path of imports.keys()) visit(path)
  expect(cycles).toEqual([])
})

/** The files that are loaded with this one: not those of types alone, nor those loaded later. */
function neededBy(path: string): string[] {
  const text = readFileSync(path, 'utf8')
  return [...text.matchAll(/^(?:import|export) (?!type)[^;]*?from '(\.[^']+)'/gm)].map(([, target = '']) =>
    resolve(dirname(path), target).replace(/\.js$/, '.ts'),
  )
}
