import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const SRC = join(dirname(fileURLToPath(import.meta.url)), '..', 'src')

/** Functions of `node:fs` that open what is at a path, whatever it is: a pipe makes them wait, a device never ends. */
const RAW =
  /\b(readFileSync|readFile|openSync|open|openAsBlob|createReadStream|copyFileSync|copyFile|cpSync|opendirSync|readv)\b/

/** Files that may use them, by reason. Everything else that Skein reads goes through `src/disk/guarded-file.ts`. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  'the guarded reader itself, and what it is made of': [
    'disk/explain.ts', // whether descriptors are left
    'disk/guarded-file.ts',
    'disk/mounts.ts', // the kernel's table
    'disk/plain-file.ts',
    'disk/present.ts',
    'disk/write-atomic.ts',
  ],
  'files of the kernel in /proc, named by a number': [
    'disk/mount-probe.ts',
    'disk/process-owner.ts',
    'disk/process-place.ts',
    'disk/process-table.ts',
    'lifecycle/status/process-family.ts',
    'lifecycle/run/run-life.ts',
    'terminal/left-clients.ts',
    'terminal/port-owner.ts',
    'terminal/process-tree.ts',
  ],
  'files of the installed package, and standard input': ['main.ts', 'daemon-main.ts', 'disk/bounded-input.ts'],
  'makes a new file, or adds to one of its own': [
    'cli/detach.ts',
    'cli/screen/new-file.ts',
    'conversations/rows/lock-file.ts',
    'conversations/openclaw/openclaw-database.ts', // compares with the copy that it made
    'conversations/rows/owned-database.ts',
    'conversations/transcript/transcript-writer.ts',
    'daemon/launch.ts',
    'ingest/turns/history-store.ts',
    'lifecycle/pack/container.ts', // and opens one that was given to it guarded
    'lifecycle/pack/pack.ts',
    'snapshots/few-files.ts',
    'ingest/text/text-store.ts',
    'terminal/launch-script.ts',
    'tools/log/place-new.ts',
  ],
  'writes to a terminal that tmux names, without waiting': ['terminal/tmux-terminal.ts'],
  'files of a home, which Skein alone writes': [
    'archive/live-file.ts',
    'snapshots/blame/line-graph.ts', // and of a repository that it has just made
    'snapshots/borrower.ts', // the settings of a store
    'snapshots/scratch/scratch-worktree.ts', // an index of its own
    'archive/pack.ts',
    'archive/sealed-writer.ts',
    'daemon/log-file.ts',
    'daemon/notices/notice-book.ts',
    'daemon/record.ts',
    'daemon/statusline.ts',
    'store/index-build.ts',
    'store/purge-list.ts',
    'purge/proof.ts',
    'erasure/meaning.ts',
    'archive/archive-erasure.ts',
    'store/journal-erasure.ts',
    'store/retention-run.ts',
    'journal/journal.ts',
    'journal/prune.ts',
    'journal/segment.ts',
    'journal/written-time.ts',
    'lifecycle/run/given-env.ts',
    'lifecycle/run/launch.ts',
    'lifecycle/talk/pending-prompt.ts',
  ],
}

const sources = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))

/** What a file imports from Node's file system, as the names that it has there. */
function importedBy(name: string): string {
  const text = readFileSync(join(SRC, name), 'utf8')
  return [...text.matchAll(/^import\s+([^;'`]*?)\s+from 'node:fs(?:\/promises)?'/gm)]
    .map(([, names]) => names)
    .join(' ')
}

it('whatever Skein reads and did not write goes through the guarded reader', () => {
  const raw = sources.filter((name) => RAW.test(importedBy(name)))
  const allowed = new Set(Object.values(ALLOWED).flat())
  expect(raw.length).toBeGreaterThan(0)
  expect(raw.filter((name) => !allowed.has(name))).toEqual([])
})

it('nobody imports the file system as a whole, by which the rule could be passed by', () => {
  const whole = sources.filter((name) => /^\s*(\*|\w+$|\w+,)/.test(importedBy(name)))
  expect(whole).toEqual([])
})

/** Functions that look at a path. On a mount that does not answer they never return. */
const LOOKS =
  /\b(statSync|stat|lstatSync|lstat|existsSync|accessSync|access|readdirSync|readdir|realpathSync|realpath|watch|watchFile)\b/

/** Files that may use them without asking `refuseDead` first, by reason: a folder, or one file. */
const UNASKED: Readonly<Record<string, readonly string[]>> = {
  'files of a home, which is asked about when it is opened': [
    ...['archive/', 'daemon/', 'erasure/', 'index/', 'ingest/', 'journal/', 'store/', 'daemon-main.ts'],
    ...['history/log-stores.ts', 'history/search.ts', 'history/care/privacy-care.ts', 'cli/commands/daemon/logs.ts'],
    ...['cli/commands/prime.ts', 'lifecycle/removed-agents.ts', 'lifecycle/run/launch-leftovers.ts'],
    ...['lifecycle/run/launch.ts', 'operations/conversations/read.ts', 'conversations/reset.ts', 'conversations/rows/'],
    ...['conversations/transcript/transcript-writer.ts', 'conversations/openclaw/openclaw-export.ts'],
  ],
  'below a directory that was asked about just before': [
    'snapshots/',
    'lifecycle/sling/worktree.ts',
    'conversations/openclaw/',
  ],
  'files of the kernel and of the system, and sockets of tmux': [
    ...['disk/', 'terminal/', 'cli/screen/descriptor.ts', 'lifecycle/run/tmux-socket.ts', 'surroundings.ts'],
  ],
}

it('whatever Skein looks at and did not make is asked about first: its mount may not answer', () => {
  const looking = sources.filter((name) => LOOKS.test(importedBy(name)))
  const unasked = looking.filter((name) => !/\brefuseDead/.test(readFileSync(join(SRC, name), 'utf8')))
  const allowed = Object.values(UNASKED).flat()
  expect(unasked.filter((name) => !allowed.some((one) => name.startsWith(one)))).toEqual([])
  expect(allowed.filter((one) => !unasked.some((name) => name.startsWith(one)))).toEqual([])
})
