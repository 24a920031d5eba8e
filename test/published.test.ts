import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'

const ROOT = dirname(import.meta.dirname)
const manifestOf = (directory: string): { scripts?: Record<string, string>; dependencies?: Record<string, string> } =>
  JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'))
const AT_INSTALL = ['preinstall', 'install', 'postinstall', 'prepublish', 'preprepare', 'prepare', 'postprepare']

it('what is published runs nothing when it is installed, and brings no settings of npm along', () => {
  const scripts = Object.keys(manifestOf(ROOT).scripts ?? {})
  expect(scripts.filter((name) => AT_INSTALL.includes(name))).toEqual([])
  const env = { PATH: process.env.PATH, HOME: process.env.HOME }
  const listed = execFileSync('npm', ['pack', '--dry-run', '--json', '--offline'], {
    cwd: ROOT,
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const [{ files } = { files: [] }] = JSON.parse(listed) as { files: { path: string }[] }[]
  const names = files.map(({ path }) => path)
  expect(names).toContain('bin/skein.js')
  expect(names.filter((name) => /(^|\/)\.npmrc$/.test(name))).toEqual([])
})

it('what dependencies run when they are installed succeeds without a compiler', () => {
  for (const name of Object.keys(manifestOf(ROOT).dependencies ?? {})) {
    const directory = join(ROOT, 'node_modules', name)
    const { install } = manifestOf(directory).scripts ?? {}
    if (install === undefined) continue
    // As npm runs it, with nothing on the path but Node and what packages bring.
    const path = `${join(ROOT, 'node_modules', '.bin')}:${dirname(process.execPath)}`
    const ran = spawnSync('/bin/sh', ['-c', install], {
      cwd: directory,
      env: { PATH: path, HOME: '/nonexistent', CC: 'false', CXX: 'false', PYTHON: 'false' },
      encoding: 'utf8',
    })
    expect({ name, status: ran.status, stderr: ran.stderr }).toEqual({ name, status: 0, stderr: '' })
  }
})
