import { copyFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Database, openDatabase } from '../../src/disk/index.js'
import type { SessionId } from '../../src/model/index.js'
import { foldSession, type LogRef } from '../../src/tools/index.js'
import { prompts, resumeOf, scratchDirectory, toolNamed } from './log-file.js'

const opencode = toolNamed('opencode')
const RECORDED = join(dirname(fileURLToPath(import.meta.url)), '..', 'fixtures', 'opencode', '1.18.33', 'opencode.db')
const SESSION = 'ses_e2154c061ffelF6LcwRvU0kKwo' as SessionId

/** A copy of the recorded database, open for writing as opencode itself would have it. */
function running(): { database: Database; log: () => LogRef; path: string } {
  const path = join(scratchDirectory(), 'opencode.db')
  copyFileSync(RECORDED, path)
  const database = openDatabase(path)
  database.exec('pragma journal_mode = wal')
  onTestFinished(() => database.close())
  const log = (): LogRef => {
    const found = opencode.logAt(path, SESSION)
    if (!found) throw new Error('no log')
    return found
  }
  return { database, log, path }
}

const NOW = 1_794_800_000_000
function ask(database: Database, id: string, text: string, at: number): void {
  const data = JSON.stringify({ role: 'user', time: { created: at } })
  database.prepare('insert into message values (?, ?, ?, ?, ?)').run(id, SESSION, at, at, data)
  const part = JSON.stringify({ type: 'text', text })
  database.prepare('insert into part values (?, ?, ?, ?, ?, ?)').run(`prt_${id}`, id, SESSION, at, at, part)
}
function answer(database: Database, id: string, to: string, text: string, at: number): void {
  const tokens = { input: 7, output: 3, reasoning: 1, cache: { read: 2, write: 4 } }
  const data = {
    role: 'assistant',
    parentID: to,
    modelID: 'm',
    providerID: 'p',
    tokens,
    cost: 0.25,
    finish: 'stop',
    time: { created: at, completed: at + 5 },
  }
  database
    .prepare('insert or replace into message values (?, ?, ?, ?, ?)')
    .run(id, SESSION, at, at, JSON.stringify(data))
  const part = JSON.stringify({ type: 'text', text })
  database.prepare('insert or replace into part values (?, ?, ?, ?, ?, ?)').run(`prt_${id}`, id, SESSION, at, at, part)
}

describe('opencode sessions', () => {
  it('are read while opencode writes: a transaction that is open is not seen, nor stopped', () => {
    const { database, log } = running()
    const facts = [...opencode.read(log())]
    database.exec('begin immediate')
    ask(database, 'msg_new1', 'one more', NOW)
    expect(foldSession([opencode.read(log())]).turns.length).toBe(3)
    database.exec('commit')
    answer(database, 'msg_new2', 'msg_new1', 'here it is', NOW + 10)
    const rest = [...opencode.read(log(), { from: resumeOf(facts) })]
    expect(rest.filter((fact) => fact.kind === 'turn').map((fact) => fact.turn)).toEqual([4])
    expect(foldSession([[...facts, ...rest]]).turns).toEqual(foldSession([opencode.read(log())]).turns)
    expect(foldSession([rest]).turns.at(-1)).toMatchObject({
      prompt: 'one more',
      reply: 'here it is',
      usage: [{ input_tokens: 7, output_tokens: 4, cache_read_tokens: 2, cache_write_5m_tokens: 4, cost_usd: 0.25 }],
    })
  })

  it('a message that changes later is told again with the turn it had', () => {
    const { database, log } = running()
    ask(database, 'msg_new1', 'one more', NOW)
    answer(database, 'msg_new2', 'msg_new1', 'here', NOW + 10)
    const facts = [...opencode.read(log())]
    database.exec(
      `update part set data = '{"type":"text","text":"here it is"}', time_updated = ${NOW + 99} where id = 'prt_msg_new2'`,
    )
    const rest = [...opencode.read(log(), { from: resumeOf(facts) })]
    expect(foldSession([[...facts, ...rest]]).turns.at(-1)).toMatchObject({ number: 4, reply: 'here it is' })
  })

  it('a turn whose call was refused was interrupted; one in which the model went on after that was completed', () => {
    const { database, log } = running()
    const refuse = (id: string, to: string, error: string, at: number): void => {
      const data = { role: 'assistant', parentID: to, finish: 'tool-calls', time: { created: at, completed: at + 5 } }
      const part = { type: 'tool', tool: 'bash', callID: `call_${id}`, state: { status: 'error', input: {}, error } }
      database.prepare('insert into message values (?, ?, ?, ?, ?)').run(id, SESSION, at, at, JSON.stringify(data))
      const row = [`prt_${id}`, id, SESSION, at, at, JSON.stringify(part)]
      database.prepare('insert into part values (?, ?, ?, ?, ?, ?)').run(...row)
    }
    const last = () => foldSession([opencode.read(log())]).turns.at(-1)?.outcome
    const refusal = 'The user rejected permission to use this specific tool call.'
    ask(database, 'msg_new1', 'ask me', NOW)
    refuse('msg_new2', 'msg_new1', `${refusal.slice(0, -1)} with the following feedback: use ls`, NOW + 1)
    expect(last()).toBe('open')
    ask(database, 'msg_new3', 'ask me again', NOW + 10)
    refuse('msg_new4', 'msg_new3', refusal, NOW + 11)
    expect(last()).toBe('aborted')
    answer(database, 'msg_new5', 'msg_new3', 'Then I do without.', NOW + 20)
    expect(last()).toBe('completed')
    ask(database, 'msg_new6', 'a question', NOW + 30)
    refuse('msg_new7', 'msg_new6', 'The user dismissed this question', NOW + 31)
    expect(last()).toBe('aborted')
  })

  it('are read anew when messages were removed', () => {
    const { database, log } = running()
    ask(database, 'msg_new1', 'one more', NOW)
    const facts = [...opencode.read(log())]
    database.exec(`delete from message where id = 'msg_new1'`)
    const rest = [...opencode.read(log(), { from: resumeOf(facts) })]
    expect(rest[0]).toMatchObject({ kind: 'restart' })
    expect(prompts(foldSession([rest]))).toHaveLength(3)
  })

  it('turns that were taken back are not live', () => {
    const { database, log } = running()
    database.exec(
      `update session set revert = '{"messageID":"msg_1deac622b0016vS2eYSVOta4eT"}' where id = '${SESSION}'`,
    )
    expect(foldSession([opencode.read(log())]).turns.map((turn) => turn.live)).toEqual([true, false, false])
  })

  it('a sub-agent names the session that started it', () => {
    const { database, log, path } = running()
    database.exec(`update session set parent_id = '${SESSION}' where id = 'ses_mine00000000000000000001'`)
    const sub = opencode.logAt(path, 'ses_mine00000000000000000001' as SessionId)
    expect(sub && opencode.identify(sub).spawner).toEqual({ session: SESSION, agent: 'ses_mine00000000000000000001' })
    expect(opencode.identify(log()).spawner).toBeUndefined()
  })

  it('a call that a fork copied has the same name in both', () => {
    const ids = (session: string) => {
      const log = opencode.logAt(RECORDED, session as SessionId)
      return log
        ? foldSession([opencode.read(log)]).turns.flatMap((turn) => turn.usage.map((call) => call.message_id))
        : []
    }
    const [origin, fork] = [ids(SESSION), ids('ses_e21531f30ffepeEujiAGdMg8jT')]
    expect(new Set(origin).size).toBe(7)
    expect(fork.slice(0, 7)).toEqual(origin)
  })
})
