import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { isObject, listAt, objectAt } from '../src/tools/json-value.js'
import { ModelServer } from './model-server/model-server.js'
import { Scratch } from './scratch.js'
import { Skein } from './skein.js'
import { claude } from './tools/claude.js'

it('an agent goes on with a session that was begun outside: claude', async () => {
  await using server = await ModelServer.start({
    rules: [
      { when: /^remember/, steps: [{ text: 'I will remember it.' }] },
      { when: /.*/, steps: [{ text: 'It was 4711.' }] },
    ],
  })
  using scratch = new Scratch('resume')
  const env = claude.setUp(scratch, server)
  const skein = new Skein(scratch, env)
  const outside = async (id: string): Promise<void> => {
    const options = { env, cwd: scratch.project }
    await promisify(execFile)('claude', ['-p', 'remember the number 4711', '--session-id', id], options)
  }
  const [session, deleted] = [randomUUID(), randomUUID()]
  await outside(session)
  await outside(deleted)
  await skein.run('ingest')

  // Claude Code would begin an empty conversation under the id of a log that is gone.
  const logs = listAt(await skein.run('sessions', 'list'), 'sessions').filter(isObject)
  expect(logs.map(({ id }) => id).sort()).toEqual([session, deleted].sort())
  const folder = scratch.project.replace(/[^A-Za-z0-9]/g, '-')
  rmSync(scratch.path('home', '.claude', 'projects', folder, `${deleted}.jsonl`))
  await expect(skein.run('start', '--resume', deleted)).rejects.toThrow(/has no log of it any more/)

  const started = await skein.run('start', '--resume', session.slice(0, 13), '--agent', 'web/taken')
  expect(objectAt(started, 'agent')).toMatchObject({ session_id: session, tool: 'claude' })
  await skein.listed('web/taken', { status: 'idle', session_id: session }, 60_000)
  const sent = await skein.run('send', 'web/taken', 'what was the number?', '--wait', '--timeout', '60s')
  expect(sent).toMatchObject({ reply: 'It was 4711.' })
  expect(server.requests.at(-1)?.prompts).toEqual(['remember the number 4711', 'what was the number?'])

  await skein.run('ingest')
  const after = listAt(await skein.run('sessions', 'list'), 'sessions').filter(isObject)
  expect(after).toHaveLength(2)
  const record = after.find(({ id }) => id === session)
  expect(record).toMatchObject({ agent: 'web/taken', chain_id: session })
  expect(record).not.toHaveProperty('outcome')
  await expect(skein.run('start', '--resume', session)).rejects.toThrow(/conversation of web\/taken, which runs/)
})
