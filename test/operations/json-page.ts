import { readFileSync } from 'node:fs'

export interface PageField {
  type: string
  present: string
  meaning: string
}

/** docs/JSON.md is the promise: its tables are read as they are written. */
export const jsonPage = readFileSync(new URL('../../docs/JSON.md', import.meta.url), 'utf8')

/** Every shape of the page, with its fields. */
export const pageShapes = new Map<string, Map<string, PageField>>(
  jsonPage
    .split(/^### /m)
    .slice(1)
    .map((section) => {
      const rows = [...section.matchAll(/^\| `(.+?)` +\| (.+?) +\| (.+?) +\|(.*)\|$/gm)]
      const fields = rows.map(
        ([, name = '', type = '', present = '', meaning = '']) =>
          [name, { type: type.trim(), present: present.trim(), meaning: meaning.trim() }] as const,
      )
      return [section.split('\n')[0] ?? '', new Map(fields)]
    }),
)
