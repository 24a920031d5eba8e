import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { type JsonObject, listAt, objectAt } from '../src/tools/json-value.js'
import { ModelServer } from './model-server/model-server.js'
import { cells } from './operation.js'
import { Scratch } from './scratch.js'
import { Skein, until } from './skein.js'
import { claude } from './tools/claude.js'
import { codex } from './tools/codex.js'
import { REAL_TOOLS } from './tools/index.js'

const AGENT = 'web/worker'
const REMEMBER = 'remember the number 4711'
const RULES = [
  { when: /^remember/, steps: [{ text: 'I will remember it.' }] },
  { when: /^think/, steps: [{ gate: 'thinking', text: 'I have thought.' }] },
  { when: /^ponder/, steps: [{ gate: 'pondering', text: 'I have pondered.' }] },
  { when: /.*/, steps: [{ text: 'It was 4711.' }] },
]
/** Where each program keeps its conversations. */
const LOGS: Readonly<Record<string, string>> = {
  claude: '.claude/projects',
  codex: '.codex/sessions',
  gemini: '.gemini/tmp',
  opencode: '.local/share/opencode',
  pi: '.pi/agent/sessions',
}

const configOf = (respawn: string): string =>
  `[daemon]\ningest = false\n[notify]\nby = []\n[recover]\nspacing = 0\n[watchdog]\nrespawn = "${respawn}"\nbackoff = "1s"\n`

function killTmux(scratch: Scratch): void {
  const server = execFileSync('tmux', ['-S', scratch.path('skein/tmux.sock'), 'display-message', '-p', '#{pid}'])
  process.kill(Number(server), 'SIGKILL')
}

const CELLS = {
  recovered: 'recover after tmux died',
  respawned: 'respawn after kill -9 in a turn',
  told: 'crash context in next request',
  recorded: 'signal and last screen recorded',
  asked: 'seance, log byte-identical',
  gone: 'seance, log deleted',
  linked: 'fresh start, link crash',
} as const

/** A limit for what hangs: on a busy machine, the six starts of the slowest program alone take minutes. */
const LIMIT = { timeout: 900_000 }
/** The last two take as long as all before them: of every tool only on request. */
const LATE: readonly string[] = [CELLS.gone, CELLS.linked]
const isWhole = (tool: string): boolean => Boolean(process.env.SKEIN_ALL_TOOLS) || tool === 'claude' || tool === 'codex'

it.concurrent.for(REAL_TOOLS)(
  '$name $version comes back in its conversation after its tmux server or its process was killed in the middle of a turn, and a past session of it is asked in a copy',
  LIMIT,
  async (tool, context) => {
    const filled = cells(
      context,
      tool.name,
      Object.values(CELLS).filter((cell) => isWhole(tool.name) || !LATE.includes(cell)),
    )
    await using server = await ModelServer.start({ rules: RULES })
    using scratch = new Scratch(tool.name)
    const skein = new Skein(scratch, tool.setUp(scratch, server))
    scratch.write('skein/config.toml', configOf('never'))
    const asked = (prompt: string) => server.requests.filter((one) => one.prompt === prompt)
    const ask = async (question: string) => {
      const sent = await skein.run('send', AGENT, question, '--wait', '--timeout', '60s')
      expect(sent).toMatchObject({ reply: 'It was 4711.' })
      expect(asked(question)).toHaveLength(1)
      const [request] = asked(question)
      expect(request?.prompts.filter((one) => one === REMEMBER)).toHaveLength(1)
      return request
    }
    const started = await skein.run('start', '.', '--agent', AGENT, '--tool', tool.name)
    const session = String(objectAt(started, 'agent')?.session_id)
    await skein.listed(AGENT, { status: 'idle', session_id: session }, 60_000)
    await skein.run('send', AGENT, REMEMBER, '--wait', '--timeout', '60s')

    // recover, after a dead tmux server
    await skein.run('send', AGENT, 'think about it')
    await server.arrival('thinking')
    killTmux(scratch)
    await skein.listed(AGENT, { status: 'error' })
    const { receipts } = await skein.run('recover')
    expect(receipts).toMatchObject([{ agent: { address: AGENT }, outcome: 'resumed', session_id: session }])
    await skein.listed(AGENT, { status: 'idle', session_id: session }, 60_000)
    await ask('what was the number?')
    expect(await skein.agent(AGENT)).toMatchObject({ session_id: session })
    expect(listAt(await skein.run('recover'), 'receipts')).toEqual([])
    filled(CELLS.recovered)

    // the watchdog, after kill -9
    scratch.write('skein/config.toml', configOf('on-crash'))
    await skein.run('send', AGENT, 'ponder about it')
    await server.arrival('pondering')
    const { pid } = await skein.agent(AGENT)
    process.kill(Number(pid), 'SIGKILL')
    const isBack = async (): Promise<boolean> => {
      const now = await skein.agent(AGENT)
      return now.pid !== undefined && now.pid !== pid && now.status === 'idle'
    }
    await until('it runs again', isBack, 60_000)
    expect(await skein.agent(AGENT)).toMatchObject({ session_id: session })
    filled(CELLS.respawned)
    expect((await ask('what was the number again?'))?.read).toContain('Recovery: your process ended unexpectedly')
    filled(CELLS.told)
    const deaths = (await skein.events('session_death')).map(({ payload }) => payload as JsonObject)
    expect(deaths).toMatchObject([
      { session, agent: AGENT, how: 'lost' },
      { session, agent: AGENT, how: 'crashed', signal: 9, reason: 'killed by signal 9' },
    ])
    expect(listAt(deaths[1], 'screen').join('\n')).toContain('ponder about it')
    filled(CELLS.recorded)

    // a seance, in a copy
    await skein.run('stop', AGENT)
    const before = logsOf(scratch, tool.name, session)
    expect(before.size).toBeGreaterThan(0)
    const reply = await skein.run('seance', 'talk', session, '--prompt', 'what was the number back then?')
    expect(reply).toMatchObject({ session, reply: 'It was 4711.' })
    expect(asked('what was the number back then?').map(({ prompts }) => prompts.includes(REMEMBER))).toEqual([true])
    const after = logsOf(scratch, tool.name, session)
    expect([...before].map(([path]) => [path, after.get(path)])).toEqual([...before])
    const { agents, groups } = await skein.run('list', '--all')
    expect([agents, groups]).toMatchObject([[{ address: AGENT }], [{ path: 'web' }]])
    filled(CELLS.asked)

    if (!isWhole(tool.name)) return

    // a fresh start behind a crash
    await skein.run('start', '.', '--agent', AGENT)
    await skein.listed(AGENT, { phase: 'ready' }, 60_000)
    scratch.write('skein/config.toml', configOf('never'))
    process.kill(Number((await skein.agent(AGENT)).pid), 'SIGKILL')
    await skein.listed(AGENT, { status: 'error' })
    await skein.run('restart', AGENT, '--fresh')
    const fresh = await skein.agent(AGENT)
    expect(fresh.session_id).not.toBe(session)
    const { chains } = await skein.run('sessions', 'chain', session)
    const [chain] = chains as { sessions: JsonObject[] }[]
    expect(chain?.sessions).toMatchObject([
      { id: session, outcome: 'crash', child_id: fresh.session_id },
      { id: fresh.session_id, parent_id: session, link: 'crash' },
    ])
    filled(CELLS.linked)

    // a seance after its log was deleted, from the archive
    await skein.run('stop', AGENT)
    await skein.run('ingest')
    for (const path of readdirSync(scratch.path('home', LOGS[tool.name] ?? '')))
      rmSync(scratch.path('home', LOGS[tool.name] ?? '', path), { recursive: true })
    const late = 'what was the number, archive?'
    expect(await skein.run('seance', 'talk', session, '--prompt', late)).toMatchObject({
      from: 'archive',
      reply: 'It was 4711.',
    })
    expect(asked(late).map(({ prompts }) => prompts.includes(REMEMBER))).toEqual([true])
    filled(CELLS.gone)
  },
)

it('a session of Codex is asked from Claude Code, from the archive when its log was deleted, and in an empty directory when its own is gone; recover writes a deleted log again', async () => {
  await using server = await ModelServer.start({ rules: RULES })
  using scratch = new Scratch('seance')
  const [one, other] = [claude.setUp(scratch, server), codex.setUp(scratch, server)]
  const env = { ...one, ...other, PATH: [one.PATH, other.PATH].join(':') }
  const skein = new Skein(scratch, env)
  scratch.write('skein/config.toml', configOf('never').replace('ingest = false', ''))
  const started = await skein.run('start', '.', '--agent', AGENT, '--tool', 'codex')
  const session = String(objectAt(started, 'agent')?.session_id)
  await skein.listed(AGENT, { status: 'idle' }, 60_000)
  await skein.run('send', AGENT, REMEMBER, '--wait', '--timeout', '60s')
  const talk = async (question: string, ...args: string[]) => {
    const talked = await skein.run('seance', 'talk', session, '--prompt', question, ...args)
    expect(talked).toMatchObject({ session, reply: 'It was 4711.' })
    const requests = server.requests.filter(({ prompt }) => prompt === question)
    expect(requests.map(({ prompts }) => prompts.filter((prompt) => prompt === REMEMBER))).toEqual([[REMEMBER]])
    return { talked, wire: requests[0]?.wire }
  }
  const log = (): string[] => [...logsOf(scratch, 'codex', session).keys()].filter((name) => name.includes(session))
  const before = logsOf(scratch, 'codex', session)
  const fromClaude = await talk('what was it, Claude?', '--tool', 'claude')
  expect(fromClaude).toMatchObject({ wire: 'anthropic', talked: { tool: 'claude', from: 'log' } })
  expect(logsOf(scratch, 'codex', session)).toEqual(before)

  // Logs are deleted while their agents are down: what was said is in the archive.
  const claudes = await skein.run('start', '.', '--agent', 'web/other', '--tool', 'claude')
  const its = String(objectAt(claudes, 'agent')?.session_id)
  await skein.listed('web/other', { status: 'idle' }, 60_000)
  await skein.run('send', 'web/other', REMEMBER, '--wait', '--timeout', '60s')
  await skein.run('ingest')
  killTmux(scratch)
  for (const address of [AGENT, 'web/other']) await skein.listed(address, { status: 'error' })
  for (const name of log()) rmSync(scratch.path('home', '.codex/sessions', name))
  const deleted = [...logsOf(scratch, 'claude', its).keys()].filter((name) => name.includes(its))
  for (const name of deleted) rmSync(scratch.path('home', '.claude/projects', name))
  expect((await talk('what was it, archive?')).talked).toMatchObject({ tool: 'codex', from: 'archive' })
  expect(log()).toEqual([])
  const { receipts } = await skein.failing('recover')
  expect(receipts).toMatchObject([
    { agent: { address: 'web/other' }, outcome: 'resumed', session_id: its },
    { agent: { address: AGENT }, outcome: 'refused', session_id: session },
  ])
  const said = JSON.stringify(receipts)
  expect(said).toContain('its log was deleted and is written again from the archive')
  expect(said).toContain('codex has no log of session')
  await skein.listed('web/other', { source: 'registry' }, 60_000) // its last reply was not seen yet
  await skein.run('send', 'web/other', 'what was it?', '--wait', '--timeout', '60s')
  expect(server.requests.at(-1)?.prompts).toEqual([REMEMBER, 'what was it?'])
  await skein.run('stop', 'web/other')

  renameSync(scratch.project, `${scratch.project}-moved`)
  const gone = await new Skein(scratch, env, undefined, scratch.home).run(
    'seance',
    'talk',
    session,
    '--prompt',
    'where?',
    '--tool',
    'claude',
  )
  expect(gone).toMatchObject({ reply: 'It was 4711.', is_directory_gone: true })
})

/** The hash of every file that a program keeps of its conversations; of a database, of all that it says about the session. */
function logsOf(scratch: Scratch, tool: string, session: string): Map<string, string> {
  const root = scratch.path('home', LOGS[tool] ?? '')
  const hash = (content: string | Buffer): string => createHash('sha256').update(content).digest('hex')
  if (tool === 'opencode') {
    const database = join(root, 'opencode.db')
    const tables = ['session', 'message', 'part'].map((table) => {
      const column = table === 'session' ? 'id' : 'session_id'
      const rows = execFileSync('python3', [
        '-c',
        QUERY,
        database,
        `select * from ${table} where ${column} = ?`,
        session,
      ])
      return [table, hash(rows)] as const
    })
    return new Map(tables)
  }
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) =>
    statSync(join(root, name)).isFile(),
  )
  // Gemini CLI keeps lists of prompts and states beside its conversations.
  const kept = files.filter((name) => /\.jsonl?$/.test(name) && !/(^|\/)logs\.json$/.test(name))
  return new Map(kept.map((name) => [name, hash(readFileSync(join(root, name)))]))
}

const QUERY = 'import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute(sys.argv[2], (sys.argv[3],)).fetchall())'
