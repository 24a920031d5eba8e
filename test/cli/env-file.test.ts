import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { scratch } from '../home/scratch.js'

const BIN = join(import.meta.dirname, '..', '..', 'bin', 'skein.js')

/** A file of variables that would make Node run something, and Skein use another home. */
function trap(): { root: string; file: string; ran: string; elsewhere: string } {
  const root = scratch()
  const [file, ran, elsewhere, hook] = ['vars', 'ran', 'elsewhere', 'hook.cjs'].map((name) => join(root, name)) as [
    string,
    string,
    string,
    string,
  ]
  writeFileSync(hook, `require('node:fs').writeFileSync(${JSON.stringify(ran)}, '')`)
  writeFileSync(file, `NODE_OPTIONS=--require ${hook}\nSKEIN_HOME=${elsewhere}\n`)
  // A daemon would outlive the test.
  mkdirSync(join(root, '.config', 'skein'), { recursive: true })
  writeFileSync(join(root, '.config', 'skein', 'config.toml'), '[daemon]\nautostart = false\n')
  mkdirSync(join(root, 'bin'))
  symlinkSync(BIN, join(root, 'bin', 'skein'))
  return { root, file, ran, elsewhere }
}

it.each(['--env-file', '--env-file='])('variables for an agent are not Node’s: %s', (option) => {
  const { root, file, ran, elsewhere } = trap()
  const given = option.endsWith('=') ? [option + file] : [option, file]
  for (const program of [BIN, join(root, 'bin', 'skein')]) {
    const { status, stderr } = spawnSync(program, ['start', root, '--tool', 'no-such-tool', ...given], {
      env: { PATH: process.env.PATH, HOME: root },
      encoding: 'utf8',
    })
    expect({ status, stderr }).toMatchObject({ status: 2, stderr: expect.stringContaining('no-such-tool') })
    expect([ran, elsewhere].filter((path) => existsSync(path))).toEqual([])
  }
})

it('variables for an agent do not reach Skein either where it is started as a script of Node', () => {
  const { root, file, elsewhere } = trap()
  const { status, stderr } = spawnSync(
    process.execPath,
    [BIN, 'spawn', root, '--agent', 'one', '--tool', 'claude', '--env-file', file],
    { env: { PATH: process.env.PATH, HOME: root }, encoding: 'utf8' },
  )
  expect({ status, stderr }).toMatchObject({ status: 0 })
  expect(existsSync(elsewhere)).toBe(false)
})
