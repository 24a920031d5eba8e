import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { resurrect } from '../../../src/lifecycle/fork/resurrect.js'
import { writeConversation } from '../../../src/lifecycle/fork/written-conversation.js'
import { configuredParts, type Parts } from '../../../src/lifecycle/index.js'
import { instantOf, parseSessionId, type SessionId } from '../../../src/model/index.js'
import type { Conversation, SpokenPart } from '../../../src/tools/write/conversation.js'
import { writerOf } from '../../../src/tools/write/writers.js'
import { openTestHome, scratch } from '../../home/scratch.js'
import { contextOf } from '../context.js'

const ID = parseSessionId('5f0c7e0a-11d4-4c52-9a3e-6f2b7d1c8e90')
const FILES = ['claude', 'codex', 'gemini', 'pi'] as const

const said = (text: string): SpokenPart => ({ kind: 'text', text })
const ran = (command: string, text: string): SpokenPart => ({
  kind: 'call',
  id: 'c1',
  name: 'Bash',
  input: { command },
  result: { text, is_error: false, is_shortened: false },
})

/** A user's home with a log of a tool in it, read once by Skein. */
async function userWith(tool: string): Promise<{ parts: Parts; log: string; cwd: string; root: string }> {
  const root = scratch()
  const cwd = join(root, 'project')
  mkdirSync(cwd)
  const environment = { home: root, env: {} }
  const conversation: Conversation = {
    tool: 'other',
    session: ID,
    left_out: [],
    turns: [
      {
        number: 1,
        prompt: 'list the files',
        outcome: 'completed',
        parts: [said('I look.'), ran('ls', 'a'), said('One.')],
      },
      { number: 2, prompt: 'remember PELICAN', outcome: 'completed', parts: [said('I will.')] },
      {
        number: 3,
        prompt: 'key sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789',
        outcome: 'completed',
        parts: [said('Ok.')],
      },
    ],
  }
  const now = instantOf(Date.UTC(2026, 0, 16, 8))
  const [file, ...others] = writerOf(tool).write(conversation, { session: ID, cwd, environment, now }).files
  if (!file) throw new Error('no file')
  for (const { path, content } of [file, ...others]) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, content)
  }
  const { home } = await openTestHome(root)
  await home.history.ingest()
  const facts = { ownRoot: root, temporary: root, userId: undefined }
  const parts = await configuredParts({ home, context: contextOf([]), configFile: join(root, 'config.toml'), facts })
  return { parts, log: file.path, cwd, root }
}

const turnsOf = async ({ home }: Parts, session: SessionId) =>
  (await home.history.turns(session, { verbatim: true })).turns.map(({ prompt, reply }) => ({ prompt, reply }))

it.each(FILES)(
  'a session of %s comes back under its own id after its log was deleted, without secrets',
  async (tool) => {
    const { parts, log } = await userWith(tool)
    rmSync(log)
    const back = await resurrect(parts, ID, {})
    expect(back).toMatchObject({ session: { id: ID }, source_session_id: ID, tool, turns: 3, from: 'archive' })
    expect(back.left_out.map(({ what }) => what)).toContain('words that the privacy policy keeps out of the archive')
    const text = readFileSync(log, 'utf8')
    expect(text).not.toContain('abcdefghijklmnopqrstuvwxyz0123456789')
    expect(text.indexOf('list the files')).toBeLessThan(text.indexOf('remember PELICAN'))
    await parts.home.history.ingest()
    const after = await turnsOf(parts, ID)
    expect(after.slice(0, 2)).toEqual([
      { prompt: 'list the files', reply: expect.stringContaining('One.') },
      { prompt: 'remember PELICAN', reply: 'I will.' },
    ])
    expect(after).toHaveLength(3)
    const [event] = await parts.home.events.read({ type: 'session_resurrected' })
    expect(event).toMatchObject({ session: ID, payload: { tool, from: 'archive', turns: 3, source_session_id: ID } })

    // A second time there is a log.
    await expect(resurrect(parts, ID, {})).rejects.toThrow(`needs no resurrection: ${tool} still has its log`)
    expect(readFileSync(log, 'utf8')).toBe(text)
  },
)

it('for another tool it is a new session that is forked from the old one', async () => {
  const { parts, log } = await userWith('claude')
  rmSync(log)
  const back = await resurrect(parts, ID, { tool: 'pi' })
  expect(back.session.id).not.toBe(ID)
  expect(back).toMatchObject({
    source_session_id: ID,
    tool: 'pi',
    session: { forked_from: { session: ID }, tool: 'pi' },
  })
  expect(back.session.outcome).toBe('exit') // so that it may be resumed
  await parts.home.history.ingest()
  expect(await turnsOf(parts, back.session.id)).toHaveLength(3)
})

it('is refused while the log is there, with what to do, and changes nothing', async () => {
  const { parts, log, root } = await userWith('claude')
  const before = readFileSync(log, 'utf8')
  const own = await resurrect(parts, ID, {}).catch((error) => error)
  expect(own).toMatchObject({ code: 'illegal-transition', next: `Resume it: skein start --resume ${ID}` })
  const other = await resurrect(parts, ID, { tool: 'codex' }).catch((error) => error)
  expect(other.next).toBe(`Continue it in codex: skein fork ${ID} --tool codex`)
  expect(readFileSync(log, 'utf8')).toBe(before)
  expect(readdirSync(root)).not.toContain('.codex')
  expect(await parts.home.events.read({ type: 'session_resurrected' })).toEqual([])
})

it.each([
  ['its directory is gone', async ({ cwd }: { cwd: string }) => rmSync(cwd, { recursive: true }), /which is gone/],
  ['nothing was said', async () => undefined, /Nothing is left|no log/],
])('is refused when %s', async (what, make, message) => {
  const { parts, log, cwd } = await userWith('claude')
  rmSync(log)
  await make({ cwd })
  const session = what === 'nothing was said' ? (await parts.home.sessions.start({ tool: 'claude', cwd })).id : ID
  await expect(resurrect(parts, session, {})).rejects.toThrow(message)
})

it('a tool that Skein cannot write for is refused by name', async () => {
  const { parts } = await userWith('claude')
  await expect(resurrect(parts, ID, { tool: 'vibe' })).rejects.toThrow('Skein cannot write a conversation for "vibe"')
})

it('a conversation is written for another tool as its log has it, up to a turn, and the log stays as it is', async () => {
  const { parts, log, cwd } = await userWith('claude')
  const before = readFileSync(log, 'utf8')
  const session = await parts.home.sessions.find(ID)
  const made = await writeConversation(parts, session, { tool: 'codex', cwd, through: 2 })
  expect(made).toMatchObject({ turns: 2, from: 'log', left_out: [] })
  await parts.home.history.ingest()
  expect((await turnsOf(parts, made.session)).map(({ prompt }) => prompt)).toEqual([
    'list the files',
    'remember PELICAN',
  ])
  expect(readFileSync(log, 'utf8')).toBe(before)
})

it('what a session cost is the same after it came back', async () => {
  const { parts, log, cwd } = await userWith('claude')
  const paid = parseSessionId('99999999-9999-4999-8999-999999999999')
  const recorded = new URL('../../fixtures/claude/2.1.325/interactive-with-ai-title.jsonl', import.meta.url)
  const path = join(dirname(log), `${paid}.jsonl`)
  writeFileSync(path, readFileSync(recorded, 'utf8').replaceAll('/home/dev/src/claude/work/repo', cwd))
  await parts.home.history.ingest()
  const counted = (await parts.home.history.spent([paid])).get(paid)
  const prompts = await turnsOf(parts, paid)
  expect(counted?.output_tokens).toBeGreaterThan(0)
  rmSync(path)
  await resurrect(parts, paid, {})
  await parts.home.history.ingest()
  expect((await turnsOf(parts, paid)).map(({ prompt }) => prompt)).toEqual(prompts.map(({ prompt }) => prompt))
  expect((await parts.home.history.spent([paid])).get(paid)).toEqual(counted)
})
