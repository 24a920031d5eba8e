// A dashboard asks several of these on every refresh, and people wait for each: the cost must depend on the page that is
// shown, not on the years behind it. 1,000 sessions are a first week, 100,000 several years of a team.
import { join } from 'node:path'
import { openHome } from '../dist/library.js'
import { inScratch, median, quantile, report } from './measure.mjs'
import { writeJournal } from './world.mjs'

const ROUNDS = 400

const filters = (at) => ({
  'no filter': {},
  agent: { agent: 'rig3/team2/agent1' },
  'rig (outer group)': { rig: 'rig3' },
  'rig (inner group)': { rig: 'rig3/team2' },
  tool: { tool: 'codex' },
  role: { role: 'witness' },
  'work unit': { work_unit: `w-${at % 200}` },
  since: { since: new Date(Date.UTC(2026, 10, 1) - 3_600_000).toISOString() },
  until: { until: new Date(Date.UTC(2026, 10, 1) - 600_000).toISOString() },
  'outcome done': { outcome: 'done' },
  'outcome active': { outcome: 'active' },
  'title, common word': { title: 'parser' },
  'title, rare text': { title: (at % 900).toString(16).padStart(5, '0') },
  'title, two letters': { title: 'lo' },
  'title, absent': { title: 'zzzz no such' },
  'since + tool + role': { tool: 'pi', role: 'crew', since: '2026-10-30T00:00:00.000Z' },
})

async function timed(home, query) {
  const from = performance.now()
  const page = await home.sessions.query(query)
  return { ms: performance.now() - from, page }
}

async function measure(home) {
  const times = {}
  const names = Object.keys(filters(0))
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const name of names) {
      const { ms, page } = await timed(home, { limit: 10, ...filters(round * 7)[name] })
      times[name] ??= []
      if (round >= 20) times[name].push(ms)
      if (name === 'no filter' && page.next_cursor) {
        const second = await timed(home, { limit: 10, cursor: page.next_cursor })
        times['next page'] ??= []
        times['next page'].push(second.ms)
        const chain = page.sessions[round % page.sessions.length].chain_id
        times.chain ??= []
        times.chain.push((await timed(home, { chain_id: chain })).ms)
      }
    }
  }
  return times
}

await inScratch(async (directory) => {
  const results = []
  for (const sessions of [1_000, 100_000]) {
    const root = join(directory, String(sessions))
    writeJournal(root, { sessions })
    const home = await openHome({ home: root, onWarning: () => {} })
    await home.index.rebuild()
    results.push(await measure(home))
    await home[Symbol.asyncDispose]()
  }
  const [small, large] = results
  const rows = Object.keys(large).flatMap((name) => [
    [`${name}: p99 ms at 100,000`, quantile(large[name], 0.99), 5],
    [
      `${name}: median, x the one at 1,000`,
      median(large[name]) / median(small[name]),
      undefined,
      `(${median(large[name]).toFixed(3)} ms)`,
    ],
  ])
  report('queries', rows)
})
