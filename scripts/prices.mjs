// Writes src/ingest/ledger/price-table.ts from the pinned @pydantic/genai-prices, so that pricing a call needs neither its 0.8 MB nor its
// 35 ms of loading. Kept: the makers that a model's name alone identifies, and the rates of text tokens and web searches.
// With --check it writes nothing and fails when the file is out of date.
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { waitForUpdate } from '@pydantic/genai-prices'

const RATES = [
  'input_mtok',
  'output_mtok',
  'cache_read_mtok',
  'cache_write_mtok',
  'cache_write_1h_mtok',
  'web_searches_kcount',
]
const root = dirname(dirname(fileURLToPath(import.meta.url)))
const entry = createRequire(import.meta.url).resolve('@pydantic/genai-prices')
const { version } = JSON.parse(readFileSync(join(dirname(dirname(entry)), 'package.json'), 'utf8'))

const rate = (price) => {
  if (price === undefined) return null
  if (typeof price === 'number') return price
  return [price.base, ...price.tiers.map((tier) => [tier.start, tier.price])]
}
const condition = (constraint) => {
  if (constraint === undefined) return null
  if (constraint.type === 'start_date') return { from: constraint.start_date }
  if (constraint.type === 'time_of_date') return { daily: [constraint.start_time, constraint.end_time] }
  throw new Error(`A price condition this script does not know: ${JSON.stringify(constraint)}`)
}
const model = ({ match, prices }) => ({
  match,
  prices: (Array.isArray(prices) ? prices : [{ prices }]).map((entry) => [
    condition(entry.constraint),
    RATES.map((key) => rate(entry.prices[key])),
  ]),
})
const isPerToken = ({ prices }) =>
  (Array.isArray(prices) ? prices : [{ prices }]).every((entry) => entry.prices.input_mtok !== undefined)

const providers = (await waitForUpdate()).filter((provider) => provider.model_match)
const table = providers.map((provider) => ({
  id: provider.id,
  match: provider.model_match,
  ...(provider.fallback_model_providers && { also: provider.fallback_model_providers }),
  models: provider.models.filter(isPerToken).map(model),
}))
const json = JSON.stringify(table).replaceAll('\\', '\\\\').replaceAll("'", "\\'")
const text = `// Written by scripts/prices.mjs: run it again instead of editing.
export const PRICE_SOURCE = '@pydantic/genai-prices ${version}'

/** Text, because parsing it takes a tenth of the time that loading it as code does. */
export const PRICE_TABLE_JSON =
  '${json}'
`
const path = join(root, 'src', 'ingest', 'ledger', 'price-table.ts')
if (!process.argv.includes('--check')) writeFileSync(path, text)
else if (readFileSync(path, 'utf8') !== text) {
  console.error('src/ingest/ledger/price-table.ts is out of date. Run: node scripts/prices.mjs')
  process.exit(1)
}
