import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const FOLDERS = ['src', 'test', 'e2e', 'bench', 'scripts', 'wasm', 'docs']
const below = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => !name.includes('node_modules'))
    .map((name) => join(folder, name))
const files = FOLDERS.flatMap(below)
const pages = [...readdirSync(ROOT), ...files].filter((path) => path.endsWith('.md') && !path.includes('fixtures'))
const names = new Set(files.map((path) => basename(path)))

/** The changelog tells of what was, and the page of commands is generated. */
it.each(pages.filter((page) => page !== 'CHANGELOG.md' && page !== 'docs/CLI.md'))(
  '%s names files that exist',
  (page) => {
    const text = readFileSync(join(ROOT, page), 'utf8').replaceAll(/^```.*?^```$/gms, '')
    const quoted = [...text.matchAll(/`([\w./-]+)`/g)].map(([, path = '']) => path)
    const linked = [...text.matchAll(/\]\((?!https?:)([\w./-]+)/g)].map(([, path = '']) => path)
    const isHere = (path: string): boolean => {
      const [first = ''] = path.split('/')
      if (path.includes('/') && FOLDERS.includes(first)) return existsSync(join(ROOT, path))
      return !/^[\w-]+(\.\w+)*\.(ts|mjs)$/.test(path) || names.has(path)
    }
    expect({
      missing: quoted.filter((path) => !isHere(path)),
      dead: linked.filter((path) => !existsSync(join(ROOT, dirname(page), path))),
    }).toEqual({ missing: [], dead: [] })
  },
)

it('pages are found', () => {
  expect(pages.filter((page) => statSync(join(ROOT, page)).isFile()).length).toBeGreaterThan(15)
})
