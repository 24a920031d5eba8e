// Reads a corpus into a fresh home, with the archive or without it. A process of its own, so that its CPU time can be told.
//   node ingest-words.mjs <corpus> <empty directory> with|without
import { randomBytes, randomUUID } from 'node:crypto'
import { mkdirSync, readdirSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { Archive } from '../dist/archive.js'
import { HistoryStore, readHistory, TextStore } from '../dist/ingest.js'
import { DEFAULT_PRIVACY } from '../dist/privacy.js'

const [corpus, home, archiving] = process.argv.slice(2)
mkdirSync(home, { recursive: true })
const root = join(corpus, 'projects')
const logs = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.jsonl'))
  .map((name) => logAt(join(root, name)))
  .sort((a, b) => (a.modified_at < b.modified_at ? -1 : 1))

const context = { clock: { now: Date.now }, random: { bytes: randomBytes, uuid: randomUUID } }
const nothing = {
  keyOf: () => ({ tool: '', name: '' }),
  standing: () => undefined,
  compressed: (batch) => batch,
  write: async () => [],
}
const stores = {
  archive: archiving === 'with' ? new Archive(join(home, 'archive'), context) : nothing,
  history: HistoryStore.open(join(home, 'history.db')),
  text: TextStore.open(join(home, 'text.db')),
  policyFor: async () => DEFAULT_PRIVACY,
  isOver: () => true,
  words: true,
  run: 'bench',
  purgeFilter: undefined,
  isCurrent: () => true,
}
// As an ingest does it: a slice at a time.
for (let at = 0; at < logs.length; at += 500) {
  await readHistory(
    stores,
    logs.slice(at, at + 500).map((log) => ({ log })),
    () => {},
  )
}

function logAt(path) {
  const { ino, size, mtimeMs } = statSync(path)
  const name = basename(path, '.jsonl')
  const isSubAgent = path.includes('/subagents/')
  return {
    ...{ tool: 'claude', path, root: corpus, session: isSubAgent ? basename(join(path, '..', '..')) : name },
    ...(isSubAgent ? { agent: name.replace(/^agent-/, '') } : {}),
    ...{ size, modified_at: new Date(mtimeMs).toISOString(), stamp: `${ino}:${size}:${mtimeMs}` },
  }
}
