import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe } from 'vitest'
import { describeWorkProvider } from '../test/contracts/work-provider.js'
import { openTestHome } from '../test/home/scratch.js'
import { programIfBuilt } from './programs.js'
import { Scratch } from './scratch.js'

const built = programIfBuilt('bd')
const bd = join(built ?? '', 'bin', 'bd')
let scratch: Scratch
let homes = 0

// bd is a Go program whose build takes more than ten minutes, so it is built only when SKEIN_TEST_BUILD asks for it.
describe.skipIf(!built)('work in beads (where bd is built)', () => {
  beforeAll(() => {
    scratch = new Scratch('beads')
    mkdirSync(scratch.path('store'))
    const env = scratch.env({ BEADS_DIR: scratch.path('store', '.beads'), BD_DISABLE_METRICS: '1' })
    const quietly = ['--non-interactive', '--skip-hooks', '--skip-agents', '--quiet']
    execFileSync(bd, ['init', '--prefix=w', ...quietly], { cwd: scratch.path('store'), env, stdio: 'pipe' })
  })
  afterAll(() => scratch[Symbol.dispose]())

  describeWorkProvider('beads', async () => {
    homes += 1
    const root = scratch.path(`home-${homes}`)
    cpSync(scratch.path('store'), join(root, 'store'), { recursive: true })
    const settings = { provider: 'beads', beads_dir: join(root, 'store', '.beads'), beads_program: bd }
    const lines = Object.entries(settings).map(([name, value]) => `${name} = ${JSON.stringify(value)}`)
    writeFileSync(join(root, 'config.toml'), `[work]\n${lines.join('\n')}\n`)
    const { home } = await openTestHome(root, undefined, undefined, scratch.env())
    return { home, close: () => home[Symbol.asyncDispose]() }
  })
})
