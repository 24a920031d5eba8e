// What every benchmark needs: a scratch home, medians, a table, and a record with --json.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export async function inScratch(body) {
  const directory = mkdtempSync(join(tmpdir(), 'skein-bench-'))
  try {
    return await body(directory)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

export const quantile = (values, q) => {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))]
}
export const median = (values) => quantile(values, 0.5)

/** Rows of [what, measured, limit]; measured and limit are numbers, limit may be absent. */
export function report(name, rows) {
  if (process.argv.includes('--json')) {
    console.log(
      JSON.stringify({
        bench: name,
        rows: rows.map(([what, measured, limit, note]) => ({ what, measured, limit, note })),
      }),
    )
    return
  }
  const width = Math.max(...rows.map(([what]) => what.length))
  for (const [what, measured, limit, note = ''] of rows) {
    const verdict = limit === undefined ? '' : measured <= limit ? `ok, at most ${limit}` : `TOO SLOW, at most ${limit}`
    console.log(`${what.padEnd(width)}  ${String(Math.round(measured * 100) / 100).padStart(9)}  ${verdict} ${note}`)
  }
  if (rows.some(([, measured, limit]) => limit !== undefined && measured > limit)) process.exitCode = 1
}
