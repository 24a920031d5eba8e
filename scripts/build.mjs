// Bundles src/ into dist/ and writes the type declarations. Every command is a lazy chunk, so that a small command loads little.
import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const dist = join(root, 'dist')

rmSync(dist, { recursive: true, force: true })
const bundle = await rolldown({
  cwd: root,
  input: { main: 'src/main.ts', library: 'src/library.ts', ingest: 'src/ingest/index.ts' },
  platform: 'node',
  // Native code cannot be bundled; it is the package's only run-time dependency.
  external: [/^node:/, '@photostructure/sqlite'],
  transform: { target: 'node20.19' },
})
await bundle.write({ dir: dist, format: 'esm', chunkFileNames: 'chunks/[name]-[hash].js', minify: 'dce-only' })
await bundle.close()

const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc')
execFileSync(process.execPath, [tsc, '-p', 'tsconfig.types.json'], { cwd: root, stdio: 'inherit' })
