import { expect, it } from 'vitest'
import { jsonPage, pageShapes } from './json-page.js'

const INTRO = `// Written by \`npm run docs\` from docs/JSON.md, which is the promise; edit the page, not this file. It is whole because it is one table.

/** Per shape and field: its type, when it is present, and what it means. A type that is not a basic one is another shape. */
export const SHAPES = {`

/** \`list of [session](#session)\` is \`list of session\`. */
const typeOf = (type: string): string => type.replace(/\[(.+?)\]\(#\1\)/, '$1')

function shapesFile(): string {
  const lines = [...pageShapes].flatMap(([name, fields]) => [
    `  ${JSON.stringify(name)}: {`,
    ...[...fields].map(
      ([field, { type, present, meaning }]) =>
        `    ${JSON.stringify(field)}: [${[typeOf(type), present, meaning].map((cell) => JSON.stringify(cell)).join(', ')}],`,
    ),
    '  },',
  ])
  return [
    INTRO,
    ...lines,
    '} as const satisfies Readonly<Record<string, Readonly<Record<string, readonly [type: string, present: string, meaning: string]>>>>',
    '',
    'export type ShapeName = keyof typeof SHAPES',
    '',
  ].join('\n')
}

it('src/operations/shapes.ts says what docs/JSON.md says', async () => {
  await expect(shapesFile()).toMatchFileSnapshot('../../src/operations/shapes.ts')
})

it('the tables of docs/JSON.md have four cells in every row', () => {
  const shapes = jsonPage.slice(jsonPage.indexOf('## Shapes'))
  const rows = shapes.split('\n').filter((line) => line.startsWith('| `'))
  const read = [...pageShapes.values()].reduce((sum, fields) => sum + fields.size, 0)
  expect(read).toBe(rows.length)
})
