import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { arch, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { mustBeOffline, programDirectory } from '../../e2e/programs.js'

const root = mkdtempSync(join(tmpdir(), 'skein-openclaw-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

interface Report {
  targets: {
    agentId: string
    issues: unknown[]
    legacyEntries: number
    validatedEntries: number
    validatedTranscriptEvents: number
    unreferencedJsonlFiles: string[]
  }[]
  totals: {
    issues: number
    importedEntries: number
    importedTranscriptEvents: number
    validatedEntries: number
    validatedTranscriptEvents: number
  }
}

/** OpenClaw's own check of a store. */
function doctor(state: string, mode: 'dry-run' | 'import' | 'validate'): Report {
  mustBeOffline()
  const modules = join(programDirectory('openclaw'), 'node_modules')
  // OpenClaw wants a newer Node than ours; npm has that too, one package per platform.
  const node = join(modules, `node-linux-${arch()}`, 'bin/node')
  const program = join(modules, 'openclaw/openclaw.mjs')
  const args = [program, 'doctor', '--session-sqlite', mode, '--session-sqlite-all-agents', '--json']
  const env = { PATH: process.env.PATH, HOME: root, OPENCLAW_STATE_DIR: state }
  const printed = execFileSync(node, args, { encoding: 'utf8', env, cwd: root, stdio: ['ignore', 'pipe', 'ignore'] })
  return JSON.parse(printed.slice(printed.indexOf('{')))
}

describe.each(['rows', 'files'])('a store exported from the %s backend', (backend) => {
  it('is accepted by the real OpenClaw: checked, taken over and validated without an issue', () => {
    const state = join(root, `state-${backend}`)
    const worker = fileURLToPath(new URL('../workers/export-to-openclaw.mjs', import.meta.url))
    execFileSync(process.execPath, [worker, join(root, backend), state, backend])
    const dry = doctor(state, 'dry-run')
    console.log(`${backend}, dry run: ${JSON.stringify(dry.totals)}`)
    expect(dry.targets.flatMap((target) => target.issues)).toEqual([])
    expect(
      dry.targets
        .map(({ agentId, legacyEntries, validatedEntries }) => [agentId, legacyEntries, validatedEntries])
        .sort(),
    ).toEqual([
      ['codex', 1, 1],
      ['main', 7, 7],
    ])
    const taken = doctor(state, 'import')
    console.log(`${backend}, import: ${JSON.stringify(taken.totals)}`)
    expect(taken.totals).toMatchObject({ issues: 0, importedEntries: 8 })
    expect(taken.totals.importedTranscriptEvents).toBe(dry.totals.validatedTranscriptEvents)
    expect(doctor(state, 'validate').totals.issues).toBe(0)
  })
})

it('the files backend is accepted as it stands', () => {
  const worker = fileURLToPath(new URL('../workers/export-to-openclaw.mjs', import.meta.url))
  const state = join(root, 'as-it-stands')
  execFileSync(process.execPath, [worker, state, join(root, 'unused'), 'files'])
  expect(doctor(state, 'dry-run').totals).toMatchObject({ issues: 0, validatedEntries: 8 })
  expect(doctor(state, 'import').totals).toMatchObject({ issues: 0, importedEntries: 8 })
})
