import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { isObject, type JsonObject, listAt } from '../src/tools/json-value.js'
import type { Action } from './model-server/actions.js'
import { ModelServer } from './model-server/model-server.js'
import { operation } from './operation.js'
import { Scratch } from './scratch.js'
import { Skein, until } from './skein.js'
import { claude } from './tools/claude.js'
import { codex } from './tools/codex.js'
import { gemini } from './tools/gemini.js'

const BAR = '╌'.repeat(60)
/** A command whose text is a dialog of its own. */
const QUOTED = [
  "tee quoted.txt <<'X'",
  BAR,
  'touch one.txt',
  BAR,
  ' Do you want to proceed?',
  ' ❯ 1. Yes',
  '   2. No',
  '',
  ' Esc to cancel · Tab to amend',
  'X',
].join('\n')

/** What is asked, and the file that it makes. */
const COMMANDS = {
  lines: { run: 'touch a1.txt\n\ntouch lines.txt', makes: 'lines.txt' },
  invisible: { run: 'touch invis\u200bible.txt', makes: 'invis\u200bible.txt' },
  turned: { run: 'touch \u202etxt.exe', makes: '\u202etxt.exe' },
  dots: { run: 'touch ./...', makes: '...' },
  quoted: { run: QUOTED, makes: 'quoted.txt' },
  // Claude Code offers to remember this one in other words than the others.
  indented: {
    run: "python3 - <<'P'\nif True:\n    open('indented.txt', 'w')\nopen('p2.txt', 'w')\nP",
    makes: 'indented.txt',
  },
  long: {
    run: `touch long.txt ${Array.from({ length: 120 }, (_, n) => `word${n}.txt`).join(' ')}`,
    makes: 'word119.txt',
  },
}

const QUERY = { sql: 'drop table users', note: 'harmless' }
/** A server with one tool, which answers every call. */
const MCP_SERVER = `require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) return
  const inputSchema = { type: 'object', properties: { sql: { type: 'string' }, note: { type: 'string' } } }
  const results = {
    initialize: { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'db', version: '1' } },
    'tools/list': { tools: [{ name: 'query', description: 'Runs a query', inputSchema }] },
    'tools/call': { content: [{ type: 'text', text: 'ok' }] },
  }
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result: results[method] ?? {} }) + '\\n')
})`

/** Requests for something other than a command, and what is said to be asked. */
const OTHERS: Readonly<Record<string, Readonly<Record<string, { do: Action; what: RegExp }>>>> = {
  claude: {
    fetch: {
      do: { tool: 'WebFetch', input: { url: 'https://example.com/a/page', prompt: 'read it' } },
      what: /^https:\/\/example\.com\/a\/page$/,
    },
    mcp: { do: { tool: 'mcp__db__query', input: QUERY }, what: /^sql: "drop table users"\nnote: "harmless"$/ },
  },
  codex: {},
  gemini: {
    fetch: {
      do: { tool: 'web_fetch', input: { prompt: 'read https://example.com/a/page' } },
      what: /https:\/\/example\.com\/a\/page/,
    },
    mcp: { do: { tool: 'mcp_db_query', input: QUERY }, what: /query \(db MCP Server\) \{"sql":"drop table users"/ },
  },
}

/** Requests that are hard to show in a dialog: each is said to be what it is, and `approve` grants it. */
describe.each([claude, codex, gemini])('odd requests of $name $version', (tool) => {
  let scratch: Scratch
  let server: ModelServer
  let skein: Skein
  const others = Object.entries(OTHERS[tool.name] ?? {})
  const asked = (action: Action): Action =>
    'run' in action && tool === codex ? { ...action, outsideSandbox: true } : action

  beforeAll(async () => {
    const rule = (name: string, action: Action) => ({
      when: new RegExp(`^${name} please`),
      steps: [{ text: 'May I?', do: [asked(action)] }, { text: 'Done.' }],
    })
    server = await ModelServer.start({
      rules: [
        ...Object.entries(COMMANDS).map(([name, { run }]) => rule(name, { run })),
        ...others.map(([name, other]) => rule(name, other.do)),
        { when: /.*/, steps: [{ text: 'Yes.' }] },
      ],
    })
    scratch = new Scratch(tool.name)
    const env = tool.setUp(scratch, server)
    if (others.length > 0) addServer(tool === claude ? '.claude.json' : '.gemini/settings.json')
    skein = new Skein(scratch, env)
    await skein.run('start', '.', '--agent', 'worker', '--tool', tool.name)
    await skein.listed('worker', { status: 'idle' }, 60_000)
  })
  afterAll(async () => {
    await skein?.run('kill', 'worker').catch(() => undefined)
    scratch?.[Symbol.dispose]()
    await server?.[Symbol.asyncDispose]()
  })

  function addServer(settings: string): void {
    const file = scratch.path('home', settings)
    const before: JsonObject = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
    const db = { command: process.execPath, args: [scratch.write('server.cjs', MCP_SERVER)] }
    writeFileSync(file, JSON.stringify({ ...before, mcpServers: { db } }))
  }

  /** Sends the prompt and looks until its dialog is drawn. */
  async function asksFor(name: string): Promise<JsonObject[]> {
    await skein.run('send', 'worker', `${name} please`)
    let asks: JsonObject[] = []
    const isDrawn = async (): Promise<boolean> => {
      asks = listAt(await skein.agent('worker'), 'asks').filter(isObject)
      return listAt(asks[0], 'options').length > 0
    }
    await until(`${name} is asked`, isDrawn, 60_000, () => skein.explained('worker'))
    return asks
  }

  /** Without a token: this is refused where more seems to be asked than the one thing. */
  async function approves(): Promise<void> {
    await skein.run('approve', 'worker')
    await skein.run('wait', 'worker', '--until', 'done', '--timeout', '60s')
  }

  for (const [name, { run, makes }] of Object.entries(COMMANDS)) {
    operation(tool.name, `a request that is ${name}`, async () => {
      const asks = await asksFor(name)
      expect(asks, await skein.explained('worker')).toHaveLength(1)
      expect(asks[0]?.what).toBe(run)
      await approves()
      expect(existsSync(scratch.path('project', makes))).toBe(true)
    })
  }

  for (const [name, { what }] of others) {
    operation(tool.name, `a request to ${name}`, async () => {
      const asks = await asksFor(name)
      expect(asks, await skein.explained('worker')).toHaveLength(1)
      expect(asks[0]?.what).toMatch(what)
      await approves()
    })
  }
})
