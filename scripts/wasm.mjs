// Compiles the AssemblyScript in wasm/ into TypeScript files, so that neither tests nor builds need the compiler.
// With --check it writes nothing and fails when a file is out of date.
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import asc from 'assemblyscript/asc'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const source = (name) => readFileSync(join(root, 'wasm', `${name}.ts`), 'utf8')
const walk = source('json-walk')

// Pages of 64 KB: room for what the caller puts there, and 64 bytes more.
await compile('claude-scan', {
  pages: 8,
  to: ['src', 'tools', 'claude', 'claude-scan-code.ts'],
  as: 'CLAUDE_SCAN_CODE',
})
await compile('claude-trim', {
  pages: 35,
  to: ['src', 'tools', 'claude', 'claude-trim-code.ts'],
  as: 'CLAUDE_TRIM_CODE',
})

async function compile(name, { pages, to, as }) {
  const sources = { 'input.ts': source(name), 'json-walk.ts': walk }
  const compiled = await asc.compileString(sources, {
    optimizeLevel: 3,
    shrinkLevel: 1, // half the code to compile, for a tenth of its speed
    noAssert: true,
    runtime: 'stub',
    enable: ['simd'],
    initialMemory: pages,
  })
  if (compiled.error) {
    console.error(`${compiled.stderr}`)
    process.exit(1)
  }
  const text = `// Written by scripts/wasm.mjs from wasm/${name}.ts: run it again instead of editing.
export const ${as} =
  '${Buffer.from(compiled.binary).toString('base64')}'
`
  const path = join(root, ...to)
  if (!process.argv.includes('--check')) writeFileSync(path, text)
  else if (readFileSync(path, 'utf8') !== text) {
    console.error(`${to.join('/')} is out of date. Run: node scripts/wasm.mjs`)
    process.exit(1)
  }
}
