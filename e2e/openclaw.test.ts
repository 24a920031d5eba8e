import { execFile, execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { arch, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ConversationStore, importOpenClaw, textOf } from '../src/conversations/index.js'
import { ModelServer } from './model-server/model-server.js'
import { mustBeOffline, programDirectory } from './programs.js'

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

/** Runs OpenClaw on a state directory and returns the JSON that it prints. Not synchronous: it may ask our model server. */
async function openclaw<T>(state: string, ...args: string[]): Promise<T> {
  mustBeOffline()
  const modules = join(programDirectory('openclaw'), 'node_modules')
  // OpenClaw wants a newer Node than ours; npm has that too, one package per platform.
  const node = join(modules, `node-linux-${arch()}`, 'bin/node')
  const program = join(modules, 'openclaw/openclaw.mjs')
  const env = { PATH: process.env.PATH, HOME: root, OPENCLAW_STATE_DIR: state }
  // It takes a few seconds, and now and then never ends: then another try is made while there is time.
  const options = { env, cwd: root, maxBuffer: 1 << 26, timeout: 90_000, killSignal: 'SIGKILL' as const }
  const running = promisify(execFile)(node, [program, ...args, '--json'], options)
  running.child.stdin?.end() // a program that reads its input would wait for ever
  const { stdout } = await running
  return JSON.parse(stdout.slice(stdout.indexOf('{')))
}

/** OpenClaw's own check of a store. */
const doctor = (state: string, mode: 'dry-run' | 'import' | 'validate'): Promise<Report> =>
  openclaw(state, 'doctor', '--session-sqlite', mode, '--session-sqlite-all-agents')

describe.each(['rows', 'files'])('a store exported from the %s backend', (backend) => {
  it('is accepted by the real OpenClaw: checked, taken over and validated without an issue', async () => {
    // Of this try alone: what was left by one that failed would be in the way.
    const [store, state] = [mkdtempSync(join(root, `${backend}-`)), mkdtempSync(join(root, 'state-'))]
    const worker = fileURLToPath(new URL('../test/workers/export-to-openclaw.mjs', import.meta.url))
    execFileSync(process.execPath, [worker, store, state, backend])
    const dry = await doctor(state, 'dry-run')
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
    const taken = await doctor(state, 'import')
    console.log(`${backend}, import: ${JSON.stringify(taken.totals)}`)
    expect(taken.totals).toMatchObject({ issues: 0, importedEntries: 8 })
    expect(taken.totals.importedTranscriptEvents).toBe(dry.totals.validatedTranscriptEvents)
    expect((await doctor(state, 'validate')).totals.issues).toBe(0)
  })
})

it('the files backend is accepted as it stands', async () => {
  const worker = fileURLToPath(new URL('../test/workers/export-to-openclaw.mjs', import.meta.url))
  const state = mkdtempSync(join(root, 'as-it-stands-'))
  execFileSync(process.execPath, [worker, state, mkdtempSync(join(root, 'unused-')), 'files'])
  expect((await doctor(state, 'dry-run')).totals).toMatchObject({ issues: 0, validatedEntries: 8 })
  expect((await doctor(state, 'import')).totals).toMatchObject({ issues: 0, importedEntries: 8 })
})

describe('a store that OpenClaw made', () => {
  /** What a file is, to be compared: nothing of OpenClaw's may change. */
  const lookAt = (directory: string): Record<string, string> =>
    Object.fromEntries(
      readdirSync(directory, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name }) => {
          const path = join(parentPath, name)
          return [path, `${statSync(path).mtimeMs} ${readFileSync(path).toString('latin1').length}`]
        }),
    )
  const state = join(root, 'theirs')
  interface Listed {
    totalCount: number
    sessions: { key: string; sessionId: string }[]
  }
  let listed: Listed

  beforeAll(async () => {
    await using server = await ModelServer.start({
      rules: [],
      fallback: { text: 'hello from the model', usage: { input: 12, output: 5, cacheRead: 0, cacheWrite: 0 } },
    })
    mkdirSync(join(root, 'work'))
    const model = { id: 'tiny', name: 'tiny', input: ['text'], contextWindow: 128_000, maxTokens: 4096 }
    const local = { baseUrl: `${server.url}/v1`, apiKey: 'local', api: 'openai-completions', models: [model] }
    const defaults = { workspace: join(root, 'work'), model: { primary: 'local/tiny' } }
    const settings = JSON.stringify({ models: { providers: { local } }, agents: { defaults } })
    const say = (...args: string[]) => openclaw(state, 'agent', '--local', '--agent', 'main', ...args)
    const make = async (): Promise<Listed> => {
      rmSync(state, { recursive: true, force: true })
      mkdirSync(state)
      writeFileSync(join(state, 'openclaw.json'), settings)
      await say('-m', 'first message')
      await say('--session-key', 'agent:main:telegram:direct:42', '-m', 'in a chat')
      return openclaw(state, 'sessions')
    }
    // The tries of a test do not repeat what is done before it.
    listed = await make().catch(make)
  }, 600_000)

  it('is imported as OpenClaw lists it, with what was said, and only once', async () => {
    const before = lookAt(join(state, 'agents'))
    using store = new ConversationStore({ directory: join(root, 'ours') })
    expect(await importOpenClaw(store, state, { dryRun: true })).toMatchObject([{ agent: 'main', transcripts: 2 }])
    expect(store.agents()).not.toContain('main')
    const [first] = await importOpenClaw(store, state)
    console.log(
      `OpenClaw lists ${listed.totalCount}; imported ${first?.imported.length}, ${first?.transcripts} transcripts`,
    )
    expect(first).toMatchObject({ transcripts: 2, skipped: [] })
    expect(first?.imported).toHaveLength(listed.totalCount)
    const main = store.open('main')
    for (const { key, sessionId } of listed.sessions)
      expect((await main.get(key))?.entry.sessionId, key).toBe(sessionId)
    const said = (await main.transcript('agent:main:main'))?.entries.flatMap(({ message }) =>
      message ? [textOf(message)] : [],
    )
    expect(said).toEqual(['first message', 'hello from the model'])
    const [second] = await importOpenClaw(store, state)
    expect(second).toMatchObject({ imported: [], transcripts: 0 })
    expect(await main.list()).toHaveLength(listed.totalCount)
    expect(lookAt(join(state, 'agents'))).toEqual(before)
  })

  it('is refused when it is damaged or of another kind, and nothing changes', async () => {
    const damaged = join(root, 'damaged')
    cpSync(state, damaged, { recursive: true })
    const path = join(damaged, 'agents/main/agent/openclaw-agent.sqlite')
    const bytes = readFileSync(path)
    bytes.fill(0xa5, 4096 * 3, 4096 * 40)
    writeFileSync(path, bytes)
    rmSync(`${path}-wal`, { force: true })
    rmSync(`${path}-shm`, { force: true })
    using store = new ConversationStore({ directory: join(root, 'untouched') })
    await expect(importOpenClaw(store, damaged)).rejects.toMatchObject({ code: 'store-damaged' })
    writeFileSync(path, 'no database at all')
    await expect(importOpenClaw(store, damaged)).rejects.toMatchObject({ code: 'store-damaged' })
    cpSync(join(damaged, 'state/openclaw.sqlite'), path)
    await expect(importOpenClaw(store, damaged)).rejects.toMatchObject({ code: 'newer-format' })
    expect(store.agents()).toEqual([])
  })
})
