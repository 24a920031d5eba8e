// Compiles wasm/claude-scan.ts (AssemblyScript) into src/ingest/claude-scan-code.ts, so that neither tests nor builds need the compiler.
// With --check it writes nothing and fails when the file is out of date.
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import asc from 'assemblyscript/asc'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const compiled = await asc.compileString(readFileSync(join(root, 'wasm', 'claude-scan.ts'), 'utf8'), {
  optimizeLevel: 3,
  shrinkLevel: 1, // half the code to compile, for a tenth of its speed
  noAssert: true,
  runtime: 'stub',
  enable: ['simd'],
  initialMemory: 8, // pages of 64 KB: room for BUFFER and a chunk after it
})
if (compiled.error) {
  console.error(`${compiled.stderr}`)
  process.exit(1)
}
const text = `// Written by scripts/wasm.mjs from wasm/claude-scan.ts: run it again instead of editing.
export const CLAUDE_SCAN_CODE =
  '${Buffer.from(compiled.binary).toString('base64')}'
`
const path = join(root, 'src', 'ingest', 'claude-scan-code.ts')
if (!process.argv.includes('--check')) writeFileSync(path, text)
else if (readFileSync(path, 'utf8') !== text) {
  console.error('src/ingest/claude-scan-code.ts is out of date. Run: node scripts/wasm.mjs')
  process.exit(1)
}
