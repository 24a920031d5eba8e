import { copyFileSync, readFileSync, truncateSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { expect, it, onTestFinished } from 'vitest'
import { type Database, openDatabase } from '../../../src/disk/index.js'
import { instantOf, parseSessionId } from '../../../src/model/index.js'
import { type CutPoint, cutLog, foldSession, type LoggedTurn, type LogRef, placeCut } from '../../../src/tools/index.js'
import { scratchDirectory, toolNamed } from '../log-file.js'

const opencode = toolNamed('opencode')
const RECORDED = join(
  dirname(fileURLToPath(import.meta.url)),
  ...['..', '..', 'fixtures', 'opencode', '1.18.33', 'opencode.db'],
)
const SESSION = parseSessionId('ses_0d15ea5e11114222833344445555')
const BEGAN = Date.parse('2026-11-16T11:00:00.000Z')

interface Message {
  id: string
  data: object
  parts: object[]
}

const text = (words: string): object => ({ type: 'text', text: words })
const prompt = (id: string, ...parts: object[]): Message => ({ id, data: { role: 'user' }, parts })
const reply = (id: string, to: string, parts: object[], more: object = {}): Message => ({
  id,
  data: { role: 'assistant', parentID: to, modelID: 'm', providerID: 'p', finish: 'stop', ...more },
  parts,
})

/** A session in a database of opencode's, its messages a second apart. */
function stored(messages: readonly Message[]): { database: Database; path: string; log: () => LogRef } {
  const path = join(scratchDirectory(), 'opencode.db')
  copyFileSync(RECORDED, path)
  const database = openDatabase(path)
  onTestFinished(() => database.close())
  const columns = 'project_id, slug, directory, title, version'
  database.exec('begin')
  database.exec(`insert into session (id, ${columns}, time_created, time_updated)
    select '${SESSION}', ${columns}, ${BEGAN}, ${BEGAN} from session limit 1`)
  const message = database.prepare('insert into message values (?, ?, ?, ?, ?)')
  const part = database.prepare('insert into part values (?, ?, ?, ?, ?, ?)')
  for (const [nth, { id, data, parts }] of messages.entries()) {
    const created = BEGAN + nth * 1_000
    message.run(id, SESSION, created, created, JSON.stringify({ ...data, time: { created, completed: created + 1 } }))
    for (const [index, one] of parts.entries()) {
      const json = 'raw' in one ? String(one.raw) : JSON.stringify(one)
      part.run(`prt_${id}_${String(index).padStart(4, '0')}`, id, SESSION, created, created, json)
    }
  }
  database.exec('commit')
  const log = (): LogRef => opencode.logAt(path, SESSION) as LogRef
  return { database, path, log }
}

/** The turns that a copy has. */
async function copied(log: LogRef, at: CutPoint): Promise<LoggedTurn[]> {
  const home = scratchDirectory()
  const session = parseSessionId('c0ffee00-1111-4222-8333-444455556666')
  const now = instantOf(BEGAN + 86_400_000)
  const cut = await cutLog(opencode, log, at, { session, cwd: '/w', environment: { home, env: {} }, now })
  if (!cut) throw new Error('no cut')
  cut.files = cut.files.map((file) => ({ ...file, path: join(home, 'import.json') }))
  const [path] = placeCut(opencode, log, at, cut)
  return path === undefined ? [] : foldSession([opencode.read(opencode.logAt(path) as LogRef)]).turns
}

const said = (turns: readonly LoggedTurn[]): unknown[] => turns.map(({ prompt, reply }) => [prompt, reply])

it('a session whose prompts, replies, summaries and calls come in any order is cut at any turn, or refused because a call is open', async () => {
  const kinds = fc.array(fc.constantFrom('reply', 'late', 'call', 'open', 'summary', 'synthetic', 'empty', 'failed'), {
    maxLength: 4,
  })
  await fc.assert(
    fc.asyncProperty(fc.array(kinds, { minLength: 1, maxLength: 5 }), fc.boolean(), async (turns, isBefore) => {
      const messages = turns.flatMap((what, index) => messagesOf(index + 1, what))
      // A reply that is late stands behind the next prompt.
      const ordered = messages.flatMap((one, at) =>
        one.id.endsWith('late') && messages[at + 1]
          ? []
          : [one, ...(messages[at - 1]?.id.endsWith('late') ? [messages[at - 1] as Message] : [])],
      )
      const { log } = stored(ordered)
      const source = foldSession([opencode.read(log())]).turns
      for (const { number, tool_calls, outcome, reply: last } of source) {
        const at = { turn: number, edge: isBefore ? 'before' : 'after' } as const
        const isOpen =
          tool_calls.some(({ result }) => result === undefined) || (outcome === 'open' && last === undefined)
        if (!isBefore && isOpen) await expect(copied(log(), at)).rejects.toMatchObject({ code: 'turn-open' })
        else expect(said(await copied(log(), at))).toEqual(said(source.slice(0, isBefore ? number - 1 : number)))
      }
    }),
    { numRuns: 60 },
  )
})

function messagesOf(n: number, what: readonly string[]): Message[] {
  const asked = `msg_${n}0`
  return [
    prompt(asked, text(`prompt ${n}`)),
    ...what.map((kind, index): Message => {
      const id = `msg_${n}${index + 1}${kind}`
      const state = { status: 'completed', input: { command: 'ls' }, output: 'a', time: { start: 1, end: 2 } }
      const call = { type: 'tool', tool: 'bash', callID: `call_${id}`, state }
      if (kind === 'call') return reply(id, asked, [call], { finish: 'tool-calls' })
      if (kind === 'open') return reply(id, asked, [{ ...call, state: { status: 'running', input: {} } }])
      if (kind === 'summary') return reply(id, asked, [text('all of it')], { summary: true })
      if (kind === 'synthetic') return prompt(id, { ...text('by itself'), synthetic: true })
      if (kind === 'empty') return reply(id, asked, [])
      if (kind === 'failed') return reply(id, asked, [], { error: { name: 'APIError', data: { message: 'no' } } })
      return reply(id, asked, [text(`${kind} ${n}`)])
    }),
  ]
}

it('a prompt that was typed before the reply to the one before came is not part of that turn', async () => {
  const messages = [
    ...[prompt('msg_1', text('one')), prompt('msg_2', text('two'))],
    ...[reply('msg_3', 'msg_1', [text('first')]), reply('msg_4', 'msg_2', [text('second')])],
  ]
  const { log } = stored(messages)
  expect(said(await copied(log(), { turn: 1, edge: 'after' }))).toEqual([['one', 'first']])
  expect(said(await copied(log(), { turn: 2, edge: 'before' }))).toEqual([['one', 'first']])
})

it('parts that cannot be read are left out of a copy: opencode would refuse all of it', async () => {
  const odd = [{ raw: '{"type":"text","te' }, { raw: '[1]' }, { raw: `"${'x'.repeat(17_000_000)}"` }]
  const { log } = stored([prompt('msg_1', text('one')), reply('msg_2', 'msg_1', [text('first'), ...odd])])
  const home = scratchDirectory()
  const session = parseSessionId('c0ffee00-1111-4222-8333-444455556666')
  const target = { session, cwd: '/w', environment: { home, env: {} }, now: instantOf(BEGAN) }
  const cut = await cutLog(opencode, log(), { turn: 1, edge: 'after' }, target)
  const { messages } = JSON.parse(cut?.files[0]?.content ?? '') as { messages: { parts: { type: string }[] }[] }
  expect(messages.map(({ parts }) => parts.map(({ type }) => type))).toEqual([['text'], ['text']])
})

it('turns that were taken back, and sessions of sub-agents, are cut like others', async () => {
  const task = {
    ...{ type: 'tool', tool: 'task', callID: 'call_1' },
    state: {
      status: 'completed',
      input: {},
      output: 'done',
      metadata: { sessionId: 'ses_child' },
      time: { start: 1, end: 2 },
    },
  }
  const messages = [
    ...[prompt('msg_1', text('one')), reply('msg_2', 'msg_1', [task, text('first')])],
    ...[prompt('msg_3', text('two')), reply('msg_4', 'msg_3', [text('second')])],
  ]
  const { database, log } = stored(messages)
  database.exec(`update session set revert = '{"messageID":"msg_3"}', parent_id = 'ses_parent' where id = '${SESSION}'`)
  expect(said(await copied(log(), { turn: 1, edge: 'after' }))).toEqual([['one', 'first']])
  expect(said(await copied(log(), { turn: 2, edge: 'after' }))).toEqual([
    ['one', 'first'],
    ['two', 'second'],
  ])
})

it('a session of twenty thousand turns, or of more than is read whole, is cut behind the last', {
  timeout: 120_000,
}, async () => {
  const many = Array.from({ length: 20_000 }, (_, n) => [
    prompt(`msg_${String(n).padStart(6, '0')}a`, text(`prompt ${n}`)),
    reply(`msg_${String(n).padStart(6, '0')}b`, `msg_${String(n).padStart(6, '0')}a`, [text(`reply ${n}`)]),
  ])
  expect(await copied(stored(many.flat()).log(), { turn: 20_000, edge: 'after' })).toHaveLength(20_000)
  const long = Array.from({ length: 8 }, (_, n) => [
    prompt(`msg_${n}a`, text(`prompt ${n} ${'x'.repeat(5_000_000)}`)),
    reply(`msg_${n}b`, `msg_${n}a`, [text(`reply ${n}`)]),
  ])
  expect(await copied(stored(long.flat()).log(), { turn: 8, edge: 'after' })).toHaveLength(8)
})

it('a database that is locked or torn is refused in one line, and stays as it is', async () => {
  const { path: full, log } = stored([prompt('msg_1', text('one')), reply('msg_2', 'msg_1', [text('first')])])
  const path = join(scratchDirectory(), 'opencode.db')
  copyFileSync(full, path)
  const ref = { ...log(), path, root: dirname(path) }
  const other = openDatabase(path)
  other.exec('pragma journal_mode = delete; begin exclusive')
  const refused = { code: 'bad-input', message: expect.stringMatching(/opencode\.db cannot be read: locked/) }
  await expect(copied(ref, { turn: 1, edge: 'after' })).rejects.toMatchObject(refused)
  other.exec('commit')
  other.close()
  truncateSync(path, 9_000)
  const before = readFileSync(path)
  await expect(copied(ref, { turn: 1, edge: 'after' })).rejects.toMatchObject({
    code: 'bad-input',
    message: expect.stringMatching(/opencode\.db cannot be read: not a database/),
  })
  expect(readFileSync(path).equals(before)).toBe(true)
})
