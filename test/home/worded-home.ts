import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { ConversationStore } from '../../src/conversations/index.js'
import type { Home } from '../../src/home/index.js'
import { TextStore } from '../../src/ingest/index.js'
import { openTestHome } from './scratch.js'

export const NOW = { ms: Date.UTC(2026, 10, 15) }
/** Logs that were written before are over: they are kept compressed. */
export const LATER = { ms: Date.UTC(2031, 0, 1) }
export const EVERYTHING = 'tool_privacy: { "*": full, Write: full, Edit: full, Bash: full, Read: full }\n'
export const SESSION = '33333333-3333-4333-8333-333333333333'
export const OTHER = '44444444-4444-4444-8444-444444444444'

export const line = (value: object): string => `${JSON.stringify(value)}\n`

/** What a log of Claude Code says when somebody asked something and a tool answered. */
export function turn(
  session: string,
  number: number,
  { prompt, command, result }: { prompt: string; command: string; result: string },
): string {
  const base = { sessionId: session, cwd: '/srv/web', version: '2.1.325', isSidechain: false }
  const id = (part: number): string => `${session}-${number}-${part}`
  const at = (second: number): string => new Date(Date.UTC(2026, 10, 14, 10, number, second)).toISOString()
  const call = { type: 'tool_use', id: `toolu_${id(0)}`, name: 'Bash', input: { command } }
  const message = { id: `m-${id(0)}`, role: 'assistant', model: 'claude-opus-5', content: [call] }
  const answer = [{ type: 'tool_result', tool_use_id: call.id, content: result }]
  return [
    line({
      type: 'user',
      uuid: id(1),
      parentUuid: number > 1 ? `${session}-${number - 1}-3` : null,
      timestamp: at(1),
      message: { role: 'user', content: prompt },
      ...base,
    }),
    line({
      type: 'assistant',
      uuid: id(2),
      parentUuid: id(1),
      timestamp: at(2),
      requestId: `r-${id(0)}`,
      message,
      ...base,
    }),
    line({
      type: 'user',
      uuid: id(3),
      parentUuid: id(2),
      timestamp: at(3),
      message: { role: 'user', content: answer },
      ...base,
    }),
  ].join('')
}

export function logOf(root: string, session: string): string {
  const path = join(root, '.claude', 'projects', '-srv-web', `${session}.jsonl`)
  mkdirSync(join(path, '..'), { recursive: true })
  return path
}

/** A home that has a text everywhere where a home can have one. */
export async function fillHome(root: string, secret: string, nowMs = NOW.ms): Promise<Home> {
  writeFileSync(join(root, 'privacy.yaml'), EVERYTHING)
  writeFileSync(
    logOf(root, SESSION),
    turn(SESSION, 1, {
      prompt: `please use ${secret} now`,
      command: `echo walrus ${secret}`,
      result: `it said ${secret}!`,
    }) +
      line({ type: 'custom-title', customTitle: `About ${secret}`, sessionId: SESSION }) +
      turn(SESSION, 2, { prompt: `and ${secret} again`, command: 'ls', result: 'narwhal' }),
  )
  writeFileSync(logOf(root, OTHER), turn(OTHER, 1, { prompt: 'nothing of it', command: 'ls', result: 'octopus' }))
  const { home } = await openTestHome(root, { ms: nowMs })
  await home.history.ingest()
  await home.roster.add({
    address: 'web/toast',
    tool: 'claude',
    title: `Knows ${secret}`,
    command: `run --with ${secret}`,
  })
  await home.roster.update('web/toast', { title: `Still knows ${secret}` })
  await home.roster.updateGroup('web', { name: `Knows ${secret.replace(/\p{Cc}/gu, ' ')}` }) // a name is one line
  await home.sessions.start({ id: 'first', agent: 'web/toast', title: `Fix ${secret}` })
  await home.sessions.handoff('first', { id: 'second', message: `it is ${secret}`, subject: secret })
  await home.events.append({
    type: 'mail',
    payload: { body: `${secret} `.repeat(9_000), nested: JSON.stringify({ secret }) },
  })
  const unit = await home.work.add({ title: `Do ${secret}`, body: `With ${secret}` })
  const toast = await home.roster.agent('web/toast')
  await home.work.hook(unit.id, toast)
  await home.work.send({ to: toast, subject: `On ${secret}`, body: `It is ${secret}` })
  await home.work.appendHandoffRecord(toast, { subject: `About ${secret}` })
  await home.sessions.start({ id: 'long-ago', title: `Old ${secret}`, started_at: '2026-01-01T00:00:00.000Z' as never })
  await home.sessions.end('long-ago', { outcome: 'done', ended_at: '2026-01-02T00:00:00.000Z' as never })
  await home.sessions.archive({ olderThanDays: 30 })
  using store = new ConversationStore({ directory: join(home.directory, 'conversations') })
  const main = store.open('main')
  const key = 'agent:main:discord:dm:ada'
  await main.receive(key, { text: `hi ${secret}`, from: 'ada' })
  await main.patch(key, { label: `Ada ${secret}` })
  await main.append(key, { role: 'user', content: `What is ${secret}?` })
  await main.reset(key, {})
  await main.receive(key, { text: 'hi', from: 'ada' })
  await main.patch(key, { label: `Ada ${secret}` })
  await main.append(key, { role: 'user', content: `Again ${secret}` })
  writeFileSync(join(home.directory, 'roster.json.damaged-20260101T000000Z'), `{"agents": [{"title": "${secret}`)
  writeFileSync(join(home.directory, 'index.db.set-aside-20260101T000000Z'), `SQLite format 3\0 ${secret}`)
  mkdirSync(join(home.directory, 'cache'))
  writeFileSync(join(home.directory, 'cache', 'page.html'), `<p>${secret}</p>`)
  return home
}

export const filesUnder = (directory: string): string[] =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((name) => join(directory, name))
    .filter((path) => existsSync(path) && statSync(path).isFile())

/** Every stretch that brotli can unpack behind the end of a line: what a sealed file or a pack of them holds. */
function unpackedPieces(bytes: Buffer): string[] {
  const starts: number[] = []
  for (let at = bytes.indexOf(SEALED); at !== -1; at = bytes.indexOf(SEALED, at + 1)) starts.push(at)
  return starts.flatMap((start, at) => {
    const from = bytes.indexOf(0x0a, start) + 1
    const { blocks = [] } = JSON.parse(bytes.toString('utf8', start, from)) as { blocks?: number[] }
    const end = starts[at + 1] ?? bytes.length
    let next = end - blocks.reduce((sum, length) => sum + length, 0)
    const parts = [bytes.subarray(from, next)]
    for (const length of blocks) {
      parts.push(bytes.subarray(next, next + length))
      next += length
    }
    return parts.map((part) => brotliDecompressSync(part).toString())
  })
}

const SEALED = Buffer.from('{"kind":"sealed"')

/** Where a text is, by looking at every byte, and into what is packed. Written without the code that it tests. */
export function whereIs(root: string, secret: string): string[] {
  const forms = [
    secret,
    JSON.stringify(secret).slice(1, -1),
    JSON.stringify(JSON.stringify(secret)).slice(3, -3),
    encodeURIComponent(secret),
  ]
  const holds = (text: string): boolean => forms.some((form) => text.includes(form))
  const found: string[] = []
  for (const path of filesUnder(join(root, 'profiles'))) {
    const bytes = readFileSync(path)
    if (holds(bytes.toString()) || holds(bytes.toString('latin1'))) found.push(path)
    if (/\.(sealed|pack)$/.test(path)) {
      for (const text of unpackedPieces(bytes)) if (holds(text)) found.push(`${path} (packed)`)
    }
    if (path.endsWith('.gz') && holds(gunzipSync(bytes).toString())) found.push(`${path} (packed)`)
    if (!path.endsWith('text.db')) continue
    using store = TextStore.open(path)
    for (const { n } of store.db.all('select n from text_blocks') as { n: number }[])
      if (holds(store.block(n).toString())) found.push(`${path} block ${n}`)
  }
  return found
}

export const stateOf = async (home: Home): Promise<unknown> => ({
  sessions: (await home.sessions.query({ limit: 100 })).sessions.map(
    ({ title: _, log_title: __, ...session }) => session,
  ),
  agents: (await home.roster.agents()).map(({ title: _, command: __, ...agent }) => agent),
  events: (await home.events.read()).map(({ id, ts, type, session, actor }) => ({ id, ts, type, session, actor })),
})
