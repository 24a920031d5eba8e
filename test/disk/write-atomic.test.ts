import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { removeRemains, temporaryName, writeAtomic, writeDurable } from '../../src/disk/index.js'
import { scratch } from '../home/scratch.js'

it('a file half written by a process with the same number, in another container, is neither used nor overwritten', () => {
  const path = join(scratch(), 'roster.json')
  const other = `${path}.tmp-${process.pid}`
  writeFileSync(other, 'half')
  writeAtomic(path, 'whole', { durable: true })
  expect(readFileSync(path, 'utf8')).toBe('whole')
  expect(readFileSync(other, 'utf8')).toBe('half')
  expect(new Set(Array.from({ length: 1_000 }, () => temporaryName(path))).size).toBe(1_000)
})

it('files that are replaced at once and made durable together are all whole, and one that cannot be replaced leaves nothing', async () => {
  const directory = scratch()
  const paths = Array.from({ length: 20 }, (_, at) => join(directory, `${at}.json`))
  await Promise.all(paths.map((path) => writeDurable(path, `whole ${path}`)))
  expect(paths.map((path) => readFileSync(path, 'utf8'))).toEqual(paths.map((path) => `whole ${path}`))
  const taken = join(directory, 'taken')
  mkdirSync(join(taken, 'x'), { recursive: true })
  await expect(writeDurable(taken, 'never')).rejects.toThrow()
  await expect(writeDurable(join(directory, 'none', 'a'), 'never')).rejects.toThrow('ENOENT')
  expect(readdirSync(directory).filter((name) => name.includes('.tmp-'))).toEqual([])
})

it('what a killed process left half written goes after an hour, and nothing else does', () => {
  const directory = scratch()
  const at = (name: string): string => join(directory, name)
  for (const name of ['a.json', 'a.json.tmp-12', 'a.json.tmp-99', 'a.tmp-x']) writeFileSync(at(name), '')
  mkdirSync(at('d.tmp-7'))
  const old = Date.now() / 1_000 - 7_200
  for (const name of ['a.json', 'a.json.tmp-12', 'a.tmp-x']) utimesSync(at(name), old, old)
  removeRemains(directory, Date.now())
  expect(readdirSync(directory).sort()).toEqual(['a.json', 'a.json.tmp-99', 'a.tmp-x', 'd.tmp-7'])
  removeRemains(join(directory, 'none'), Date.now())
  expect(existsSync(join(directory, 'none'))).toBe(false)
})
