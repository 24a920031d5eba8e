import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { pi } from '../../../src/tools/pi/pi.js'
import { piRunner } from '../../../src/tools/pi/pi-runner.js'
import { fixture } from '../recorded-pane.js'
import { ID, messageOf, ORIGIN, scratchLaunches } from './launch.js'

it('what the extension says', () => {
  const { run } = JSON.parse(fixture('pi', 'hooks', 'expected.json'))
  const lines = fixture('pi', 'hooks', 'run.jsonl').trim().split('\n')
  const said = lines.map((line) => piRunner.readMessage(messageOf('pi', JSON.parse(line))))
  expect(said).toEqual(run)
})

it('an error that pi may answer by trying again is no failed turn; one that it gives up at is', () => {
  const told = (error: string) =>
    piRunner.readMessage(messageOf('pi', { type: 'agent_end', stopReason: 'error', error }))?.evidence
  expect(told('429 too many requests')).toMatchObject({
    status: 'running',
    reason: 'a try failed: rate limited (429 too many requests)',
  })
  expect(told('500 internal')).toMatchObject({ status: 'running' })
  expect(told('401 invalid API key')).toMatchObject({ status: 'error', trouble: 'auth' })
})

describe('starting pi', () => {
  const extension = '/run/skein/agent-1/pi-extension.mjs'

  it('anew: with a log of one line under the id of our choice; again: with the log that is there', () => {
    using scratch = scratchLaunches()
    const { argv, files, session } = piRunner.prepare(scratch.launch({ model: 'a/b' }))
    const seed = files.find(({ path }) => path.endsWith('.jsonl'))
    if (!seed) throw new Error('no log was written')
    expect(argv).toEqual(['pi', '--extension', extension, '--session', seed.path, '--model', 'a/b'])
    expect(session).toBe(ID)
    expect(seed.path).toBe(join(scratch.home, `.pi/agent/sessions/--srv-web--/2026-11-15T10-00-00-000Z_${ID}.jsonl`))
    mkdirSync(dirname(seed.path), { recursive: true })
    writeFileSync(seed.path, seed.content)
    const [log] = pi.discover({ home: scratch.home, env: {} })
    expect(log && pi.identify(log)).toMatchObject({ id: ID, cwd: '/srv/web' })

    const again = piRunner.prepare(scratch.launch({ kind: 'resume' }))
    expect(again.argv.slice(3)).toEqual(['--session', seed.path])
    expect(again.files).toHaveLength(1)
  })

  it('as a fork: from the log of the other, under an id that it chooses', () => {
    using scratch = scratchLaunches()
    const path = join(scratch.home, `.pi/agent/sessions/--srv-web--/2026-11-15T09-00-00-000Z_${ORIGIN}.jsonl`)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, `${JSON.stringify({ type: 'session', version: 3, id: ORIGIN, cwd: '/srv/web' })}\n`)
    const { argv, session } = piRunner.prepare(scratch.launch({ kind: 'fork', origin: ORIGIN }))
    expect(argv.slice(3)).toEqual(['--fork', path])
    expect(session).toBeUndefined()
  })
})
