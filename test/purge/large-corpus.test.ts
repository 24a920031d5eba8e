import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openTestHome, scratch } from '../home/scratch.js'
import { EVERYTHING, LATER, whereIs } from '../home/worded-home.js'
import { makeCorpus } from '../ingest/corpus.js'

it('a needle of a large corpus is gone from the search and from every file', async () => {
  const root = scratch()
  const corpus = makeCorpus(61, { sessions: 40, mb: 8 })
  cpSync(join(corpus.root, 'projects'), join(root, '.claude', 'projects'), { recursive: true })
  writeFileSync(join(root, 'privacy.yaml'), EVERYTHING)
  const { needles } = JSON.parse(readFileSync(join(corpus.root, 'manifest.json'), 'utf8')) as {
    needles: Record<string, unknown>
  }
  const { home } = await openTestHome(root, LATER)
  onTestFinished(() => home[Symbol.asyncDispose]())
  await home.history.ingest()
  let gone = 0
  for (const needle of Object.keys(needles).slice(0, 3)) {
    const { hits } = await home.history.search({ text: needle })
    const report = await home.privacy.purge({ secret: needle })
    expect(report.proof).toMatchObject({ left: [] })
    expect(report.count >= hits.length && report.native_logs.length >= (hits.length > 0 ? 1 : 0)).toBe(true)
    expect((await home.history.search({ text: needle })).hits).toEqual([])
    expect(whereIs(root, needle)).toEqual([])
    gone += hits.length
  }
  expect(gone).toBeGreaterThan(0)
  expect((await home.history.search({ text: 'error' })).hits.length).toBeGreaterThan(0)
  expect((await home.archive.verify()).problems).toEqual([])
  rmSync(join(root, '.claude'), { recursive: true })
  await home.index.rebuild()
  for (const needle of Object.keys(needles).slice(0, 3))
    expect((await home.history.search({ text: needle })).hits).toEqual([])
})
