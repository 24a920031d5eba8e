// The cold answer as a program of its own: what `skein cost --no-index` does, without the command line around it.
//   node bench/cold-cost.mjs <root with projects/> [by] [zone]
import { setFlagsFromString } from 'node:v8'
import { coldCost, PriceBook } from '../dist/ingest.js'

const [root = '.', by = 'day', zone = 'UTC'] = process.argv.slice(2)
setFlagsFromString('--no-opt') // see coldCost
const environment = { home: '/nonexistent', env: { CLAUDE_CONFIG_DIR: root } }
process.stdout.write(`${JSON.stringify(coldCost(environment, new PriceBook(), { by, zone }))}\n`)
