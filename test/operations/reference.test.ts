import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { COMMAND_ONLY, loadOperation, OPERATION_NAMES } from '../../src/operations/index.js'

const FROM = '<!-- operations: written by `npm run docs` -->'
const TO = '<!-- end of operations -->'

async function operationsTable(): Promise<string> {
  const rows = await Promise.all(
    OPERATION_NAMES.map(async (name) => {
      const { does, input, result, summary } = await loadOperation(name)
      const fields = Object.entries(input).map(([field, { isRequired }]) => `\`${field}\`${isRequired ? '' : '?'}`)
      const shapes = [result].flat().map((shape) => `[${shape}](JSON.md#${shape})`)
      return `| \`${does === 'reads' ? 'GET' : 'POST'} /v1/${name}\` | ${fields.join(', ')} | ${shapes.join(' or ')} | ${summary} |`
    }),
  )
  const own = Object.entries(COMMAND_ONLY).map(([command, why]) => `| \`skein ${command}\` | ${why} |`)
  return [
    FROM,
    '',
    `${OPERATION_NAMES.length} operations. A field with a question mark may be left out.`,
    '',
    '| request | input | result | what it does |',
    '| --- | --- | --- | --- |',
    ...rows,
    '',
    'Commands that are not operations:',
    '',
    '| command | why |',
    '| --- | --- |',
    ...own,
    '',
    TO,
  ].join('\n')
}

it('docs/API.md lists every operation', async () => {
  const file = new URL('../../docs/API.md', import.meta.url)
  const page = readFileSync(file, 'utf8')
  const [before = '', rest = ''] = page.split(FROM)
  const [, after = ''] = rest.split(TO)
  await expect(`${before}${await operationsTable()}${after}`).toMatchFileSnapshot('../../docs/API.md')
})
