// Bundles src/ into dist/ and writes the type declarations. Every command is a lazy chunk, so that a small command loads little.
import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { writeCodePacks } from './code-cache.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const dist = join(root, 'dist')

const common = {
  cwd: root,
  platform: 'node',
  // Native code cannot be bundled; it is the package's only run-time dependency.
  external: [/^node:/, '@photostructure/sqlite'],
  transform: { target: 'node20.19' },
  // No module of ours does anything by being loaded, so a command that uses one thing of a folder need not load the rest of it.
  treeshake: { moduleSideEffects: false },
}

/** A chunk of these modules of src/. */
const chunk = (name, ...modules) => ({
  name,
  test: new RegExp(`[\\\\/]src[\\\\/](${modules.join('|').replaceAll('/', '[\\\\/]')})\\.ts$`),
})

// Modules that need no other, each a chunk: left alone, the bundler puts them beside what only some commands load, and then all do.
const APART = [chunk('word-blocks', 'archive/word-blocks'), chunk('row-writer', 'disk/row-writer')]

// What every command loads, and what every command loads that opens a home: to open and compile a file takes a quarter of a
// millisecond, however small it is.
const TOGETHER = [
  chunk(
    'start',
    'model/(time|error|nearest)',
    'cli/(command-table|global-options)',
    'operations/(field|kind|usage-error|error-facts)',
  ),
  // What looks at files that others may have put there; `--version` and `--help` need none of it.
  chunk('files', 'disk/(plain-file|guarded-file|unsuitable-file|mounts|mount-probe|process-owner)'),
  chunk(
    'ground',
    'model/(ids|address|event|event-summary|event-shape|retention|outcome|session|session-state|roster)',
    'disk/(explain|make-directory|write-atomic|lock|sqlite|statements|present)',
    'store/(paths|purge-stamp|with-values|set-aside|index-generation)',
  ),
]

rmSync(dist, { recursive: true, force: true })
// The program is CommonJS because it starts 5 ms sooner; the library is what its users import, ESM.
await write({ main: 'src/main.ts' }, { dir: join(dist, 'cli'), format: 'cjs', extension: 'cjs' })
// Apart from the program, so that what only the daemon needs does not change how the program's own chunks are cut.
await write(
  { 'statusline-main': 'src/statusline-main.ts' },
  { dir: join(dist, 'statusline'), format: 'cjs', extension: 'cjs' },
)
await write({ 'hook-main': 'src/hook-main.ts' }, { dir: join(dist, 'hook'), format: 'cjs', extension: 'cjs' })
await write({ 'daemon-main': 'src/daemon-main.ts' }, { dir: join(dist, 'daemon'), format: 'cjs', extension: 'cjs' })
await write(
  {
    library: 'src/library.ts',
    conversations: 'src/conversations/index.ts',
    archive: 'src/archive/index.ts',
    ingest: 'src/ingest/index.ts',
    privacy: 'src/privacy/index.ts',
    snapshots: 'src/snapshots/snapshots.ts',
    terminal: 'src/terminal/index.ts',
  },
  { dir: dist, format: 'esm', extension: 'js' },
)

async function write(input, { dir, format, extension }) {
  const bundle = await rolldown({ ...common, input })
  const groups = format === 'cjs' ? [...APART, ...TOGETHER] : APART
  const names = { entryFileNames: `[name].${extension}`, chunkFileNames: `chunks/[name]-[hash].${extension}` }
  await bundle.write({ dir, format, ...names, minify: 'dce-only', codeSplitting: { groups } })
  await bundle.close()
}

const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc')
execFileSync(process.execPath, [tsc, '-p', 'tsconfig.types.json'], { cwd: root, stdio: 'inherit' })

writeCodePacks()
