import { execFileSync, spawnSync } from 'node:child_process'
import { copyFileSync, cpSync, mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openTestHome, profileDirectory, scratch } from './scratch.js'

const WORKER = join(import.meta.dirname, '..', 'workers', 'ingest.mjs')
const LOG = join(import.meta.dirname, '..', 'fixtures', 'claude', '2.1.325', 'print-5turns-resumed.jsonl')
const ID = '22222222-2222-4222-8222-222222222222'

/** What else may lie where a file of ours should. A pipe would make whoever opens it wait for ever. */
const KINDS: Readonly<Record<string, (path: string) => void>> = {
  directory: (path) => mkdirSync(path),
  pipe: (path) => void execFileSync('mkfifo', [path]),
  'dangling link': (path) => symlinkSync(basename(path), path),
}

async function ingested(): Promise<string> {
  const root = scratch()
  const log = join(root, '.claude', 'projects', '-srv', `${ID}.jsonl`)
  mkdirSync(dirname(log), { recursive: true })
  copyFileSync(LOG, log)
  const { home } = await openTestHome(root, { ms: Date.now() })
  await home.history.ingest()
  await home[Symbol.asyncDispose]()
  return root
}

/** In a process of its own, which can be ended when it waits. */
function ingest(root: string): { said: string; signal: string | null } {
  const env = { PATH: process.env.PATH }
  const { stdout, stderr, signal } = spawnSync(process.execPath, [WORKER, root, root, '1'], {
    env,
    timeout: 60_000,
    encoding: 'utf8',
  })
  return { said: stdout + stderr, signal }
}

describe.each(Object.keys(KINDS))('a %s', (kind) => {
  it('in the archive is named by verify, and stops nobody', async () => {
    const root = await ingested()
    const archive = join(profileDirectory(root), 'archive')
    const [live = ''] = readdirSync(join(archive, 'claude'))
    const version = live.replace(/\.live$/, '~1.sealed')
    const places = ['claude/other-aaaaaaaaaaaa.live', `claude/${version}`, 'claude/x.tmp-1', 'packs/ab12.pack', 'odd']
    for (const place of places) KINDS[kind]?.(join(archive, place))
    expect(ingest(root)).toMatchObject({ signal: null, said: expect.stringContaining('"unreadable":[]') })
    const { home } = await openTestHome(root, { ms: Date.now() })
    const { ok, problems } = await home.archive.verify()
    expect(ok).toBe(false)
    for (const place of [places[0], places[1], places[3]])
      expect(problems).toContain(`${place}: is a ${kind}, not a file that Skein wrote; move it away`)
    expect(await home.archive.list()).toMatchObject([{ session: ID }])
    expect((await home.history.turns(ID)).turns.length).toBeGreaterThan(3)
    await home[Symbol.asyncDispose]()
  })

  it.each(['archive/lock', 'history.db', 'text.db', 'lock', 'events/00000001.jsonl'])(
    'in the place of %s is told in one line',
    async (place) => {
      const root = await ingested()
      const path = join(profileDirectory(root), place)
      rmSync(path, { force: true })
      KINDS[kind]?.(path)
      const { said, signal } = ingest(root)
      expect(signal).toBeNull()
      expect(said).toContain('SkeinError')
      expect(said).toContain(path)
    },
  )

  it('in the place of the configuration is told in one line', async () => {
    const root = await ingested()
    const path = join(root, 'config.toml')
    KINDS[kind]?.(path)
    const { home } = await openTestHome(root)
    if (kind === 'dangling link') await home.history.ingest()
    else await expect(home.history.ingest()).rejects.toThrow(`${path} is a ${kind}, not a file`)
    await home[Symbol.asyncDispose]()
  })
})

it('in the place of a log that is archived, the path of what is in the way is told', async () => {
  const root = await ingested()
  const archive = join(profileDirectory(root), 'archive', 'claude')
  const [live = ''] = readdirSync(archive)
  rmSync(join(archive, live))
  mkdirSync(join(archive, live))
  cpSync(LOG, join(root, '.claude', 'projects', '-srv', `${ID}.jsonl`))
  const { home } = await openTestHome(root, { ms: Date.now() })
  await expect(home.history.ingest()).rejects.toThrow(join(archive, live))
  expect(readdirSync(archive)).toEqual([live]) // nothing half-written is left
  await home[Symbol.asyncDispose]()
})
