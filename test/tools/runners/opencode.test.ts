import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parseSessionId } from '../../../src/model/index.js'
import { opencodeRunner } from '../../../src/tools/opencode/opencode-runner.js'
import type { Launch } from '../../../src/tools/run/tool-runner.js'
import { fixture } from '../recorded-pane.js'
import { ID, messageOf, ORIGIN, scratchLaunches } from './launch.js'

const SESSION = 'ses_11111111111141118111111111111111'

it('what the plugin says', () => {
  const { run } = JSON.parse(fixture('opencode', 'hooks', 'expected.json'))
  const lines = fixture('opencode', 'hooks', 'run.jsonl').trim().split('\n')
  const said = lines.map((line) => opencodeRunner.readMessage(messageOf('opencode', JSON.parse(line))))
  expect(said).toEqual(run)
})

describe('starting opencode', () => {
  it('anew: in a conversation that the plugin makes under the id of our choice', () => {
    using scratch = scratchLaunches()
    const { argv, env, session, files } = opencodeRunner.prepare(scratch.launch({ model: 'a/b' }))
    expect(argv).toEqual(['opencode', '--port', '4100', '--session', SESSION, '--model', 'a/b'])
    expect(session).toBe(SESSION)
    expect(env.OPENCODE_SERVER_PASSWORD).toBe('not-for-arguments')
    expect(JSON.parse(String(env.OPENCODE_CONFIG_CONTENT))).toEqual({
      plugin: [pathToFileURL(files[0]?.path ?? '').href],
    })
  })

  it('again: the same one', () => {
    using scratch = scratchLaunches()
    const session = parseSessionId(SESSION)
    const { argv } = opencodeRunner.prepare(scratch.launch({ kind: 'resume', session }))
    expect(argv.slice(3)).toEqual(['--session', SESSION])
  })

  it('as a fork: under an id that it chooses', () => {
    using scratch = scratchLaunches()
    const { argv, session } = opencodeRunner.prepare(scratch.launch({ kind: 'fork', origin: ORIGIN, session: ID }))
    expect(argv.slice(3)).toEqual(['--session', ORIGIN, '--fork'])
    expect(session).toBeUndefined()
  })

  it('adds to what the user has in the variable, and says so when that is no JSON', () => {
    using scratch = scratchLaunches()
    const env = { OPENCODE_CONFIG_CONTENT: '{"theme":"x","plugin":["mine"]}' }
    const prepared = opencodeRunner.prepare(
      scratch.launch({ environment: { home: scratch.home, env }, dangerous: true }),
    )
    expect(JSON.parse(String(prepared.env.OPENCODE_CONFIG_CONTENT))).toMatchObject({
      theme: 'x',
      plugin: ['mine', expect.stringContaining('opencode-plugin.mjs')],
      permission: 'allow',
    })
    const broken = { home: scratch.home, env: { OPENCODE_CONFIG_CONTENT: '[' } }
    expect(() => opencodeRunner.prepare(scratch.launch({ environment: broken }))).toThrow('OPENCODE_CONFIG_CONTENT')
  })
})

describe('the plugin', () => {
  /** Loads the plugin of a launch as opencode does, with a server that answers as told. */
  async function loaded(launch: Launch, isThere: boolean, refusals = 0) {
    const asked: string[] = []
    const server = createServer((request, response) => {
      asked.push(`${request.method} ${request.url} ${request.headers.authorization ? 'with' : 'without'} a password`)
      if (asked.length <= refusals) return void request.socket.destroy()
      response.writeHead(request.method === 'GET' && !isThere ? 404 : 200).end('{}')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const address = server.address()
    const serverUrl = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`
    const [file] = opencodeRunner.prepare(launch).files
    if (!file) throw new Error('no plugin')
    mkdirSync(launch.directory, { recursive: true })
    mkdirSync(launch.spool.directory, { recursive: true })
    writeFileSync(file.path, file.content)
    const { Skein } = await import(/* @vite-ignore */ pathToFileURL(file.path).href)
    const hooks = await Skein({ directory: launch.cwd, serverUrl })
    const told = (): unknown[] =>
      readdirSync(launch.spool.directory)
        .filter((name) => name.endsWith('.msg'))
        .sort((a, b) => Number(BigInt(a.split('-')[0] ?? 0) - BigInt(b.split('-')[0] ?? 0)))
        .map((name) => readFileSync(join(launch.spool.directory, name), 'utf8').split('\n'))
        .map(([head = '', payload = '']) => {
          expect(JSON.parse(head)).toMatchObject({ v: 1, agent: 'agent-1', run: 'run-1', tool: 'opencode' })
          return JSON.parse(payload)
        })
    return { hooks, asked, told }
  }

  const launchIn = (home: string, launch: Launch): Launch => ({
    ...launch,
    directory: join(home, 'run'),
    spool: { ...launch.spool, directory: join(home, 'spool') },
  })

  it('makes the conversation when it is new', async () => {
    using scratch = scratchLaunches()
    const { asked, told } = await loaded(launchIn(scratch.home, scratch.launch()), false)
    expect(asked).toEqual(['POST /api/session with a password'])
    expect(told()).toEqual([{ type: 'skein.started', sessionID: SESSION, how: 'startup' }])
  })

  it('makes it again when it is to be resumed and is gone, and tells that it is new', async () => {
    using scratch = scratchLaunches()
    const { asked, told } = await loaded(launchIn(scratch.home, scratch.launch({ kind: 'resume' })), false)
    expect(asked.map((line) => line.split(' ').slice(0, 2).join(' '))).toEqual([
      `GET /api/session/${SESSION}`,
      'POST /api/session',
    ])
    expect(told()).toEqual([{ type: 'skein.started', sessionID: SESSION, how: 'startup' }])
  })

  it('asks again where the server of a slow start does not answer yet, and reports a failure only after four tries', async () => {
    using scratch = scratchLaunches()
    const slow = await loaded(launchIn(scratch.home, scratch.launch()), false, 3)
    expect(slow.asked).toHaveLength(4)
    expect(slow.told()).toEqual([{ type: 'skein.started', sessionID: SESSION, how: 'startup' }])
    using other = scratchLaunches()
    const dead = await loaded(launchIn(other.home, other.launch()), false, 4)
    expect(dead.asked).toHaveLength(4)
    expect(dead.told()).toMatchObject([{ type: 'skein.failed' }])
  })

  it('does nothing in an opencode that the agent has started itself, while the agent runs', async () => {
    using scratch = scratchLaunches()
    const launch = launchIn(scratch.home, scratch.launch())
    const owner = join(launch.directory, 'opencode.pid')
    mkdirSync(launch.directory, { recursive: true })
    writeFileSync(owner, String(process.ppid))
    const child = await loaded(launch, false)
    expect([child.hooks, child.asked, child.told()]).toEqual([{}, [], []])

    const { pid: gone } = spawnSync('true')
    writeFileSync(owner, String(gone))
    const again = await loaded(launch, false)
    expect(again.told()).toMatchObject([{ type: 'skein.started' }])
    expect(readFileSync(owner, 'utf8')).toBe(String(process.pid))
  })

  it('leaves sub-agents out, but for what they ask; and tells of a conversation that takes the place of another', async () => {
    using scratch = scratchLaunches()
    const { hooks, told } = await loaded(launchIn(scratch.home, scratch.launch({ kind: 'resume' })), true)
    const event = (type: string, properties: object) => hooks.event({ event: { type, properties } })
    await event('session.created', { sessionID: 'ses_child', info: { id: 'ses_child', parentID: SESSION } })
    await event('session.idle', { sessionID: 'ses_child' })
    await event('permission.asked', { id: 'per_1', sessionID: 'ses_child', permission: 'bash' })
    await event('plugin.added', {})
    await hooks['chat.message']({ sessionID: SESSION }, { parts: [{ type: 'text', text: 'hello' }] })
    const part = { type: 'text', text: 'Hi.', time: { end: 1 } }
    await event('message.part.updated', { sessionID: SESSION, part })
    await event('session.idle', { sessionID: SESSION })
    await event('session.created', { sessionID: 'ses_new', info: { id: 'ses_new' } })
    await hooks['chat.message']({ sessionID: 'ses_new' }, { parts: [{ type: 'text', text: 'anew' }] })
    await hooks['chat.message']({ sessionID: 'ses_old' }, { parts: [{ type: 'text', text: 'back' }] })
    expect(told()).toEqual([
      { type: 'skein.started', sessionID: SESSION, how: 'resume' },
      { type: 'permission.asked', id: 'per_1', sessionID: 'ses_child', permission: 'bash' },
      { type: 'chat.message', sessionID: SESSION, prompt: 'hello', how: 'unchanged' },
      { type: 'session.idle', sessionID: SESSION, reply: 'Hi.' },
      { type: 'chat.message', sessionID: 'ses_new', prompt: 'anew', how: 'clear' },
      { type: 'chat.message', sessionID: 'ses_old', prompt: 'back', how: 'resume' },
    ])
  })

  describe('a turn whose request is refused', () => {
    /** What the plugin says of the end of a turn that went so, and what is read from it. */
    async function endAfter(...events: [type: string, properties: object][]) {
      using scratch = scratchLaunches()
      const { hooks, told } = await loaded(launchIn(scratch.home, scratch.launch({ kind: 'resume' })), true)
      await hooks['chat.message']({ sessionID: SESSION }, { parts: [{ type: 'text', text: 'ask me' }] })
      const part = { type: 'text', text: 'May I?', time: { end: 1 } }
      const all: typeof events = [['message.part.updated', { part }], ...events, ['session.idle', {}]]
      for (const [type, properties] of all)
        await hooks.event({ event: { type, properties: { sessionID: SESSION, ...properties } } })
      return { payload: told().at(-1) }
    }
    const turnOf = ({ payload }: { payload: unknown }) =>
      opencodeRunner.readMessage({ payload } as Parameters<typeof opencodeRunner.readMessage>[0])?.evidence?.turn
    const REFUSED: [string, object] = ['permission.replied', { requestID: 'per_1', reply: 'reject' }]
    const BUSY: [string, object] = ['session.status', { status: { type: 'busy' } }]

    it('was interrupted, and its words from before the refusal are no reply', async () => {
      const end = await endAfter(BUSY, REFUSED)
      expect(end.payload).toEqual({ type: 'session.idle', sessionID: SESSION, refused: true })
      expect(turnOf(end)).toBe('interrupted')
      expect(turnOf(await endAfter(BUSY, ['question.rejected', { requestID: 'que_1' }]))).toBe('interrupted')
    })

    it('has finished where the model went on after the refusal, and where a sub-agent was refused', async () => {
      expect(turnOf(await endAfter(BUSY, REFUSED, BUSY))).toBe('finished')
      const ofChild = { ...REFUSED[1], sessionID: 'ses_child' }
      expect(turnOf(await endAfter(BUSY, [REFUSED[0], ofChild]))).toBe('finished')
      expect(turnOf(await endAfter(BUSY, [REFUSED[0], { requestID: 'per_1', reply: 'once' }]))).toBe('finished')
    })
  })
})

describe('an answer by its API', () => {
  /** A server that lists one request until it is answered; `takes` says whether an answer ends it. */
  async function answered(listed: string, takes: boolean, question?: { options: string[][]; choose: string }) {
    const questions = question?.options.map((labels) => ({ options: labels.map((label) => ({ label })) }))
    let pending: object[] = [{ id: listed, ...(questions ? { questions } : {}) }]
    const replies: string[] = []
    const server = createServer(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk)
      if (request.method === 'POST') {
        replies.push(`${request.url} ${Buffer.concat(chunks)}`)
        if (takes) pending = []
      }
      response.writeHead(200).end(JSON.stringify(request.method === 'GET' ? pending : true))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const address = server.address()
    const port = typeof address === 'object' && address ? address.port : 0
    const answer = opencodeRunner.answer?.({
      request: { id: 'per_1', tool: 'bash', kind: question ? 'question' : 'permission' },
      reply: question ? { choose: question.choose } : { decision: 'allow' },
      launch: { port, secret: 'x' },
      session: ID,
      signal: AbortSignal.timeout(5_000),
    })
    return { answer, replies }
  }

  it('is told to have been taken only when the request is gone', async () => {
    const { answer, replies } = await answered('per_1', true)
    await expect(answer).resolves.toMatchObject({ receipt: expect.stringContaining('once') })
    expect(replies).toEqual(['/permission/per_1/reply {"reply":"once"}'])
  })

  it('to a question is the label of its option, however it was written', async () => {
    const { answer, replies } = await answered('per_1', true, { options: [['Red', 'Blue']], choose: ' blu' })
    await expect(answer).resolves.toMatchObject({ receipt: expect.stringContaining('"Blue"') })
    expect(replies).toEqual(['/question/per_1/reply {"answers":[["Blue"]]}'])
  })

  it.each([
    ['that has no such option', [['Red', 'Blue']], 'green', /No option/],
    ['that has two such options', [['Red one', 'Red two']], 'red', /More than one/],
    ['that is one of several', [['Red'], ['Blue']], 'red', /2 questions/],
  ])('to a question %s is refused, and nothing is sent', async (_, options, choose, why) => {
    const { answer, replies } = await answered('per_1', true, { options, choose })
    await expect(answer).rejects.toMatchObject({ code: 'not-answered', message: expect.stringMatching(why) })
    expect(replies).toEqual([])
  })

  it('that was not taken is a failure', async () => {
    const { answer } = await answered('per_1', false)
    await expect(answer).rejects.toMatchObject({ code: 'not-answered' })
  })

  it('to a request that is no longer open is refused, and nothing is sent', async () => {
    const { answer, replies } = await answered('per_2', true)
    await expect(answer).rejects.toMatchObject({ code: 'stale-answer' })
    expect(replies).toEqual([])
  })
})
