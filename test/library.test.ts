import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import { run } from './cli/binary.js'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const page = readFileSync(join(ROOT, 'docs', 'LIBRARY.md'), 'utf8')
/** Every example of the page, named after the heading it is under. */
const examples = page.split(/^#{2,3} /m).flatMap((section) => {
  const title = section.split('\n')[0] ?? ''
  return [...section.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = '']) => ({ title, code }))
})

describe('the examples of docs/LIBRARY.md', () => {
  const directory = mkdtempSync(join(tmpdir(), 'skein-library-'))

  beforeAll(() => {
    // Where the package is installed, as for any program that uses it.
    mkdirSync(join(directory, 'node_modules', '@types'), { recursive: true })
    symlinkSync(ROOT, join(directory, 'node_modules', 'skein'))
    symlinkSync(join(ROOT, 'node_modules', '@types', 'node'), join(directory, 'node_modules', '@types', 'node'))
    mkdirSync(join(directory, 'example'))
    writeFileSync(join(directory, 'package.json'), '{ "type": "module" }')
    const files = examples.map(({ code }, at) => {
      const file = join(directory, `example-${at}.ts`)
      writeFileSync(file, code.replaceAll('/tmp/example', join(directory, 'example')))
      return file
    })
    const strict = ['--strict', '--exactOptionalPropertyTypes', '--skipLibCheck', '--types', 'node']
    const modern = ['--target', 'es2022', '--lib', 'es2024,esnext.disposable', '--module', 'nodenext']
    const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc')
    try {
      execFileSync(process.execPath, [tsc, ...strict, ...modern, ...files], { cwd: directory, encoding: 'utf8' })
    } catch (error) {
      throw new Error(`The examples do not compile:\n${(error as { stdout?: string }).stdout}`)
    }
    return () => rmSync(directory, { recursive: true, force: true })
  })

  it.each(examples.map(({ title }, at) => [title, at] as const))('%s', async (_title, at) => {
    const env = { PATH: process.env.PATH ?? '', HOME: directory, SKEIN_HOME: join(directory, 'example') }
    const { stdout, stderr, exitCode } = await run(process.execPath, [join(directory, `example-${at}.js`)], { env })
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 })
    expect(stdout).not.toBe('')
    expect(stdout).not.toContain('ghp_0123456789')
  })

  it('use every entry point of the package', () => {
    const { exports: entries } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { exports: object }
    const names = Object.keys(entries).filter((name) => !name.endsWith('.json'))
    const imported = new Set(
      examples.flatMap(({ code }) => [...code.matchAll(/from '(skein[^']*)'/g)].map(([, from]) => from)),
    )
    expect([...imported].sort()).toEqual(names.map((name) => name.replace('.', 'skein')).sort())
  })
})
