import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { LooseObjects } from '../../src/snapshots/loose-object.js'
import { ScratchRepository } from './scratch-repository.js'

const WORKER = fileURLToPath(new URL('../workers/collect-snapshots.mjs', import.meta.url))
const KEPT = 3

/** A git that counts how often it is started and kills whoever started it: before that command, or after it. */
function fragileGit(repository: ScratchRepository, killAt: number, when: 'before' | 'after'): string {
  const [path, count] = [join(repository.base, 'fragile-git'), join(repository.base, 'count')]
  writeFileSync(count, '0')
  const [early, late] = [when === 'before' ? killAt : 0, when === 'after' ? killAt : 0]
  const lines = [
    '#!/bin/sh',
    `n=$(($(cat '${count}') + 1)); echo $n > '${count}'`,
    `[ $n = ${early} ] && kill -9 $PPID && exit 1`,
    `[ $n = ${late} ] || exec git "$@"`,
    'git "$@"; kill -9 $PPID',
  ]
  writeFileSync(path, `${lines.join('\n')}\n`)
  chmodSync(path, 0o700)
  return path
}

const started = (repository: ScratchRepository): number => Number(readFileSync(join(repository.base, 'count'), 'utf8'))

async function collect(repository: ScratchRepository, git: string): Promise<string> {
  const child = spawn(process.execPath, [WORKER, repository.stores, git, 's', String(KEPT)], { stdio: 'inherit' })
  const [code, signal] = await once(child, 'exit')
  return String(code ?? signal)
}

it('upkeep that is killed at any step leaves every snapshot whole, and the next one finishes it', async () => {
  using repository = ScratchRepository.withCommits()
  const snapshots = repository.snapshots()
  let turn = 0
  const contents: string[] = []
  const take = async (): Promise<void> => {
    turn += 1
    repository.write('a.txt', `${turn}\n`)
    // What only snapshots have, and what the user has dropped since.
    if (turn % 2 === 0) repository.commit(`turn ${turn}`)
    if (turn % 4 === 0) repository.git('reset', '-q', '--hard', 'HEAD~1')
    contents.push(readFileSync(join(repository.root, 'a.txt'), 'utf8'))
    await snapshots.capture({ directory: repository.root, session: 's', moment: 'stop' })
  }
  const whole = async (): Promise<void> => {
    for (const { problems, broken } of await snapshots.verify({ full: true }))
      expect([problems, broken]).toEqual([[], []])
  }
  for (let n = 0; n < KEPT + 3; n += 1) await take()
  expect(await collect(repository, fragileGit(repository, 0, 'before'))).toBe('0')
  const steps = started(repository)
  expect(steps).toBeGreaterThan(4)
  for (let step = 1; step <= steps; step += 1)
    for (const when of ['before', 'after'] as const) {
      await take()
      repository.git('gc', '-q', '--prune=now')
      const newest = (await snapshots.list('s')).slice(-KEPT).map(({ seq }) => seq)
      const end = await collect(repository, fragileGit(repository, step, when))
      // A run may need fewer steps than the first.
      expect([step, when, end]).toEqual([step, when, started(repository) < step ? '0' : 'SIGKILL'])
      expect((await snapshots.list('s')).map(({ seq }) => seq)).toEqual(expect.arrayContaining(newest))
      await whole()
    }
  expect(await collect(repository, fragileGit(repository, 0, 'before'))).toBe('0')
  await whole()
  const left = await snapshots.list('s')
  expect(left).toHaveLength(KEPT)
  const target = join(repository.base, 'restored')
  const [oldest] = left
  if (oldest) await snapshots.restore(oldest, { path: target })
  expect(readFileSync(join(target, 'a.txt'), 'utf8')).toBe(contents.at(-KEPT))
}, 300_000)

it('upkeep is due when captures have made many packs, makes one of them, and removes what a killed capture left', async () => {
  using repository = ScratchRepository.withCommits()
  const snapshots = repository.snapshots()
  const take = () => snapshots.capture({ directory: repository.root, session: 's', moment: 'stop' })
  repository.write('a.txt', 'one\n')
  await take()
  expect(await snapshots.collect({ onlyDue: true })).toEqual([])
  const [store = ''] = readdirSync(repository.stores)
  const packs = join(repository.stores, store, 'objects', 'pack')
  const own = () => readdirSync(packs).filter((name) => name.endsWith('.pack') && !isKept(packs, name))
  expect(own()).toHaveLength(1)
  const objects = new LooseObjects(join(repository.stores, store), 'sha1')
  for (let n = 0; n < 200; n += 1) {
    objects.hold()
    for (const name of ['a', 'b', 'c']) objects.blob(`${name} ${n}`)
    objects.flush({ mayPack: true })
  }
  expect(own()).toHaveLength(201)
  const half = `pack-${'0'.repeat(40)}.pack`
  for (const name of [half, 'tmp_1']) writeFileSync(join(packs, name), 'PACK')
  expect(await snapshots.collect({ onlyDue: true })).toHaveLength(1)
  expect(own()).toHaveLength(1)
  expect(readdirSync(packs)).not.toContain('tmp_1')
  expect(await snapshots.verify({ full: true })).toMatchObject([{ problems: [], broken: [] }])
  expect(await snapshots.collect({ onlyDue: true })).toEqual([])
})

const isKept = (packs: string, name: string): boolean => existsSync(join(packs, name.replace('.pack', '.keep')))

it('removes what a killed process has left among the refs, which git takes for refs', async () => {
  using repository = ScratchRepository.withCommits()
  const snapshots = repository.snapshots()
  await snapshots.capture({ directory: repository.root, session: 's-1', moment: 'stop' })
  const [name = ''] = readdirSync(repository.stores)
  const store = join(repository.stores, name)
  const left = join(store, 'refs', 'turns', 's-1', '2.tmp-123')
  writeFileSync(left, '')
  await snapshots.collect({ onlyDue: false })
  expect(existsSync(left)).toBe(false)
  execFileSync('git', ['fsck', '--full', '--strict'], { cwd: store, stdio: 'pipe' })
})
