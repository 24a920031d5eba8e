import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { scratch } from '../home/scratch.js'
import { BINARY, environmentIn } from './binary.js'

const sh = (script: string, env: Record<string, string>, ...wrapper: string[]) => {
  const [program = 'sh', ...args] = [...wrapper, 'sh', '-c', script]
  return spawnSync(program, args, { env, encoding: 'utf8' })
}

/** A daemon would outlive the test. */
function withoutDaemon(root: string): Record<string, string> {
  mkdirSync(join(root, 'home'))
  writeFileSync(join(root, 'home', 'config.toml'), '[daemon]\nautostart = false\n')
  return environmentIn(root)
}

it('a disk on which no more files can be made is said to be one', () => {
  const root = scratch()
  const disk = join(root, 'disk')
  mkdirSync(disk)
  const env = environmentIn(root, { SKEIN_HOME: join(disk, 'home') })
  // A file system of its own, in a namespace that ends with the command: space for megabytes, and a few dozen files.
  const script = `mount -t tmpfs -o size=16m,nr_inodes=32 none "${disk}" && node "${BINARY}" session start --id a;
    for n in $(seq 32); do touch "${disk}/$n"; done 2>/dev/null;
    node "${BINARY}" session start --id b; echo "status $?"`
  const { stdout, stderr } = sh(script, env, 'unshare', '-rm')
  expect(stderr).toContain('No more files can be created on the disk')
  expect(stdout).toContain('status 1')
})

it('a process that may open no more files says so', () => {
  const root = scratch()
  const env = withoutDaemon(root)
  expect(sh(`node "${BINARY}" session start --id a`, env).status).toBe(0)
  const ends = [18, 19, 20, 21, 22, 23, 24, 26, 28].map((limit) =>
    sh(`ulimit -n ${limit}; exec node "${BINARY}" list`, env),
  )
  const ours = ends.filter(({ stderr }) => stderr.startsWith('skein:'))
  expect(ours.filter(({ status }) => status === 70).map(({ stderr }) => stderr)).toEqual([])
  expect(ours.some(({ stderr }) => stderr.includes('has too many open files'))).toBe(true)
})

it.each([
  ['snooze', 'x', '999999999d'],
  ['spawn', 'x', '--env=constructor'],
  ['start', '.', '--env=__proto__'],
  ['sessions', 'list', '--constructor=x'],
])('words that JavaScript knows and times that no calendar has are told like any others: %s %s %s', (...args) => {
  const { status, stderr } = spawnSync(process.execPath, [BINARY, ...args], {
    env: withoutDaemon(scratch()),
    encoding: 'utf8',
  })
  expect({ status, stderr }).toMatchObject({ status: expect.toSatisfy((code: number) => code === 1 || code === 2) })
  expect(stderr).not.toContain('bug in Skein')
})
