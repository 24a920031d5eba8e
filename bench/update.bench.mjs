// Every hook of every agent changes one session: its cost must not grow with the number of sessions.
// The baseline in the same run is the design this replaces: one sessions.json, read, changed and written whole.
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openHome } from '../dist/library.js'
import { inScratch, median, report } from './measure.mjs'
import { writeJournal } from './world.mjs'

const UPDATES = 300

async function updateTimes(root) {
  const home = await openHome({ home: root, onWarning: () => {} })
  await home.index.rebuild()
  const { sessions } = await home.sessions.query({ limit: 200 })
  const times = []
  for (let n = 0; n < UPDATES; n += 1) {
    const { id } = sessions[n % sessions.length]
    const from = performance.now()
    await home.sessions.update(id, { branch: `branch-${n}` })
    times.push(performance.now() - from)
  }
  await home[Symbol.asyncDispose]()
  return times.slice(20)
}

function wholeFileTimes(directory, sessions) {
  const path = join(directory, `sessions-${sessions}.json`)
  const entry = (n) => ({
    id: `session-${n}`,
    agent: 'rig/team/agent',
    started_at: '2026-01-17T01:00:00Z',
    cwd: '/home/dev/src/project',
    title: `title ${n}`,
  })
  writeFileSync(
    path,
    JSON.stringify(Object.fromEntries(Array.from({ length: sessions }, (_, n) => [`session-${n}`, entry(n)]))),
  )
  const times = []
  for (let n = 0; n < 10; n += 1) {
    const from = performance.now()
    const store = JSON.parse(readFileSync(path, 'utf8'))
    store[`session-${n}`].branch = `branch-${n}`
    writeFileSync(`${path}.tmp`, JSON.stringify(store))
    renameSync(`${path}.tmp`, path)
    times.push(performance.now() - from)
  }
  return times
}

await inScratch(async (directory) => {
  const sizes = [1_000, 50_000]
  const ours = []
  for (const sessions of sizes) {
    const root = join(directory, String(sessions))
    writeJournal(root, { sessions })
    ours.push(median(await updateTimes(root)))
  }
  const theirs = sizes.map((sessions) => median(wholeFileTimes(directory, sessions)))
  report('update', [
    ['update of one session at 1,000, ms', ours[0]],
    ['update of one session at 50,000, ms', ours[1]],
    ['ratio 50,000 to 1,000', ours[1] / ours[0], 1.5],
    ['the same ratio for one whole file', theirs[1] / theirs[0], undefined, `(${theirs[1].toFixed(0)} ms)`],
  ])
})
