import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { scratch } from '../home/scratch.js'

const BIN = join(import.meta.dirname, '..', '..', 'bin', 'skein.js')

/**
 * A Node that takes `--env-file` out of a program's own arguments, as far as the first `--`, as early versions of Node 20 did, whichever
 * version runs this test. The variables appear in the process and not in what the system gave it.
 */
function affectedNode(root: string): string {
  const directory = join(root, 'affected')
  mkdirSync(directory)
  const preload = join(directory, 'preload.cjs')
  writeFileSync(
    preload,
    `process.loadEnvFile(process.env.AFFECTED_FILE)
     for (const [, file] of (process.env.NODE_OPTIONS ?? '').matchAll(/--require (\\S+)/g)) require(file)`,
  )
  const node = join(directory, 'node')
  writeFileSync(
    node,
    `#!/bin/sh
     next=
     for word do
       [ "$next" ] && { file=$word; break; }
       case $word in
         --) break ;;
         --env-file) next=yes ;;
         --env-file=*) file=\${word#--env-file=}; break ;;
       esac
     done
     [ "$file" ] || exec '${process.execPath}' "$@"
     AFFECTED_FILE=$file exec '${process.execPath}' --require '${preload}' "$@"
    `,
  )
  chmodSync(node, 0o755)
  return node
}

/** A file of variables that would make Node run something, and Skein use another home. */
function trap(): { root: string; file: string; ran: string; elsewhere: string; node: string; path: string } {
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
  const node = affectedNode(root)
  return { root, file, ran, elsewhere, node, path: `${dirname(node)}:${process.env.PATH}` }
}

const OPTIONS = ['--env-file', '--env-file='] as const
const given = (option: string, file: string): string[] => (option.endsWith('=') ? [option + file] : [option, file])

it.each(OPTIONS)('variables for an agent are not Node’s: %s', (option) => {
  const { root, file, ran, elsewhere, path } = trap()
  for (const program of [BIN, join(root, 'bin', 'skein')]) {
    const { status, stderr } = spawnSync(program, ['start', root, '--tool', 'no-such-tool', ...given(option, file)], {
      env: { PATH: path, HOME: root },
      encoding: 'utf8',
    })
    expect({ status, stderr }).toMatchObject({ status: 2, stderr: expect.stringContaining('no-such-tool') })
    expect([ran, elsewhere].filter((one) => existsSync(one))).toEqual([])
  }
})

it.each(OPTIONS)('variables for an agent do not reach Skein either where it is a script of Node: %s', (option) => {
  const { root, file, ran, elsewhere, node, path } = trap()
  const { status, stderr } = spawnSync(
    node,
    [BIN, 'spawn', root, '--agent', 'one', '--tool', 'claude', ...given(option, file)],
    { env: { PATH: path, HOME: root }, encoding: 'utf8' },
  )
  expect({ status, stderr }).toMatchObject({ status: 0 })
  // Node itself has run it before any line of ours: this shows that it read the file.
  expect(existsSync(ran)).toBe(true)
  expect(existsSync(elsewhere)).toBe(false)
})
