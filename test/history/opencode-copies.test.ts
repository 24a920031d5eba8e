import { copyFileSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openDatabase } from '../../src/disk/index.js'
import { openTestHome, scratch } from '../home/scratch.js'

const RECORDED = join(import.meta.dirname, '..', 'fixtures', 'opencode', '1.18.33', 'opencode.db')
const ORIGIN = 'ses_e2154c061ffelF6LcwRvU0kKwo'
const COPY = 'ses_e100adb5fffeSA6b19f1SLH9s3'
const MADE_MS = 1_794_740_000_000
const REPLY = `case when data ->> '$.parentID' is null then data else json_set(data, '$.parentID', (data ->> '$.parentID') || 'copy') end`

/** opencode's database, and its steps of making a copy: each is written on its own, and the time of the session's row stays. */
function database() {
  const root = scratch()
  const path = join(root, '.local', 'share', 'opencode', 'opencode.db')
  mkdirSync(dirname(path), { recursive: true })
  copyFileSync(RECORDED, path)
  const open = openDatabase(path)
  open.exec('pragma journal_mode = wal')
  onTestFinished(() => open.close())
  const copied = (table: string, given: Readonly<Record<string, string>>, where: string): void => {
    const columns = open.prepare(`select name from pragma_table_info('${table}')`).all() as { name: string }[]
    const names = columns.map(({ name }) => name)
    const values = names.map((name) => given[name] ?? `"${name}"`)
    open.exec(`insert into ${table} (${names.join(', ')}) select ${values.join(', ')} from ${table} where ${where}`)
  }
  const rows = (table: string, where: string): string[] =>
    open
      .prepare(`select id from ${table} where ${where} order by time_created, id`)
      .all()
      .map((row) => (row as { id: string }).id)
  let ms = MADE_MS
  const own = () => ({ id: `id || 'copy'`, session_id: `'${COPY}'`, time_updated: String(++ms) })
  const row = { id: `'${COPY}'`, time_created: `${MADE_MS}`, time_updated: `${MADE_MS}` }
  const steps = [
    () => copied('session', row, `id = '${ORIGIN}'`),
    ...rows('message', `session_id = '${ORIGIN}'`).flatMap((message) => [
      () => copied('message', { ...own(), data: REPLY }, `id = '${message}'`),
      ...rows('part', `message_id = '${message}'`).map(
        (part) => () => copied('part', { ...own(), message_id: `message_id || 'copy'` }, `id = '${part}'`),
      ),
    ]),
  ]
  return { root, steps }
}

it('a copy that opencode is still writing when it is read is read again, also when nothing is asked in it', async () => {
  const { root, steps } = database()
  const { home } = await openTestHome(root, { ms: MADE_MS + 60_000 })
  const turns = async (session: string) => (await home.history.counts(session)).turns
  for (const [n, step] of steps.entries()) {
    step()
    await home.history.ingest()
    expect(await home.archive.verify(), `step ${n}`).toMatchObject({ ok: true, problems: [], behind: 0 })
  }
  expect(await turns(ORIGIN)).toBeGreaterThan(1)
  expect(await turns(COPY)).toBe(await turns(ORIGIN))
  expect(await home.history.ingest()).toMatchObject({ read: 0 })
})
