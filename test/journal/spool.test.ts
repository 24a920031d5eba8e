import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { Spool, type SpooledMessage, spoolCommand } from '../../src/journal/index.js'
import { scratch } from '../home/scratch.js'

const SENDER = { agent: 'a1', run: 'r1', tool: 'claude' }

function spool(name = 'spool'): Spool {
  const made = new Spool(join(scratch(), name))
  made.prepare()
  return made
}

const tell = (directory: string, payload: string, shell = 'sh') =>
  spawnSync(shell, ['-c', spoolCommand(directory, SENDER)], { input: payload, encoding: 'utf8' })

async function taken(from: Spool): Promise<SpooledMessage[]> {
  const messages: SpooledMessage[] = []
  await from.takeAll(async (more) => {
    messages.push(...more)
  })
  return messages
}

it.each(['sh', 'bash', 'dash'])(
  'a hook run by %s leaves its payload as it was, for its owner only, and prints nothing',
  async (shell) => {
    const into = spool("it's a $(home) %s \\n")
    const payload = '{"hook":"Stop","text":"a\\nb \\u0000 %s $(id) \'\\""}'
    const ran = tell(into.directory, payload, shell)
    expect([ran.status, ran.stdout, ran.stderr]).toEqual([0, '', ''])
    const [name = ''] = readdirSync(into.directory)
    expect(statSync(join(into.directory, name)).mode & 0o777).toBe(0o600)
    const [message] = await taken(into)
    expect(message).toMatchObject({ ...SENDER, pid: process.pid, payload: JSON.parse(payload) })
    expect(into.isEmpty()).toBe(true)
  },
)

it('messages are taken in the order they were left, also those of one millisecond', async () => {
  const into = spool()
  const command = spoolCommand(into.directory, SENDER)
  const lines = Array.from({ length: 30 }, (_, n) => `printf '{"n":${n}}' | { ${command}; }`)
  expect(spawnSync('sh', ['-c', lines.join('\n')]).status).toBe(0)
  expect((await taken(into)).map(({ payload }) => payload)).toEqual(Array.from({ length: 30 }, (_, n) => ({ n })))
})

it('a hook succeeds in silence and takes all of its input when nothing can be stored', () => {
  const gone = join(scratch(), 'gone')
  const big = 'x'.repeat(300_000)
  const ran = tell(gone, big)
  expect([ran.status, ran.stdout, ran.stderr, ran.error]).toEqual([0, '', '', undefined])
  expect(existsSync(gone)).toBe(false)
})

it('a hook succeeds in silence on a full disk and leaves nothing half written', () => {
  const root = scratch()
  const directory = join(root, 'small')
  mkdirSync(directory)
  // A file system of its own that is full after 64 KB, in a namespace that ends with the command.
  const script = `mount -t tmpfs -o size=64k none "${directory}" && head -c 200000 /dev/zero | { ${spoolCommand(directory, SENDER)}; }; echo "status $?"; ls -A "${directory}"`
  const ran = spawnSync('unshare', ['-rm', 'sh', '-c', script], { encoding: 'utf8' })
  expect(ran.stdout).toBe('status 0\n')
  expect(ran.stderr).toBe('')
})

it('what is no message is set aside and counted, and the rest is taken', async () => {
  const into = spool()
  const put = (name: string, content: string) => writeFileSync(join(into.directory, name), content)
  put('1-a.msg', 'no header')
  put('2-b.msg', '{"v":2,"agent":"a","run":"r","tool":"t"}\n{}')
  put('3-c.msg', `${JSON.stringify({ v: 1, ...SENDER })}\n${'x'.repeat(1_100_000)}`)
  put('4-d.msg', `${JSON.stringify({ v: 1, ...SENDER, pid: 'no' })}\nplain words`)
  put('.half', '{"v":1')
  mkdirSync(join(into.directory, '5-e.msg'))
  symlinkSync('/dev/zero', join(into.directory, '6-f.msg'))
  const found: unknown[] = []
  const intake = await into.takeAll(async (messages) => {
    found.push(...messages.map(({ payload }) => payload))
  })
  expect(found).toEqual(['plain words'])
  expect(intake).toEqual({ taken: 1, bad: 5 })
  expect(into.badCount()).toBe(5)
  const kept = readdirSync(join(into.directory, 'bad')).filter((name) => name.startsWith('3'))
  expect(kept.map((name) => statSync(join(into.directory, 'bad', name)).size)).toEqual([65_536])
})

it('a message stays until its effect is stored, and the ones behind it with it', async () => {
  const into = spool()
  for (const n of [1, 2]) tell(into.directory, `{"n":${n}}`)
  await expect(into.takeAll(() => Promise.reject(new Error('disk full')))).rejects.toThrow('disk full')
  expect((await taken(into)).map(({ payload }) => payload)).toEqual([{ n: 1 }, { n: 2 }])
})

it('of several takers at once each message goes to one', async () => {
  const into = spool()
  for (let n = 0; n < 40; n += 1) {
    writeFileSync(join(into.directory, `${n}.msg`), `${JSON.stringify({ v: 1, ...SENDER })}\n${n}`)
  }
  const takers = Array.from({ length: 4 }, () => new Spool(into.directory))
  const all = (await Promise.all(takers.map(taken))).flat()
  expect(all.map(({ payload }) => payload).sort((a, b) => Number(a) - Number(b))).toEqual(
    Array.from({ length: 40 }, (_, n) => n),
  )
})

it('what a killed hook left half written goes after an hour', () => {
  const into = spool()
  const old = join(into.directory, '.17-1')
  writeFileSync(old, '{')
  utimesSync(old, 1_000, 1_000)
  writeFileSync(join(into.directory, '.18-1'), '{')
  into.sweep(Date.now())
  expect(readdirSync(into.directory)).toEqual(['.18-1'])
})

it('directories in the place of messages are set aside like anything else that is none, however many', async () => {
  const into = spool()
  for (let n = 0; n < 60; n += 1) mkdirSync(join(into.directory, `${n}.msg`, 'full'), { recursive: true })
  writeFileSync(join(into.directory, '99.msg'), `${JSON.stringify({ v: 1, ...SENDER })}\nhere`)
  expect((await taken(into)).map(({ payload }) => payload)).toEqual(['here'])
  expect(into.badCount()).toBe(50)
  expect(into.isEmpty()).toBe(true)
})

it('a flood is handed over many at a time', async () => {
  const into = spool()
  for (let n = 0; n < 2_500; n += 1) {
    const name = `${1_700_000_000_000_000_000n + BigInt(n)}-1.msg`
    writeFileSync(join(into.directory, name), `${JSON.stringify({ v: 1, ...SENDER })}\n${n}`)
  }
  const sizes: number[] = []
  const all: unknown[] = []
  while (!into.isEmpty()) {
    await into.takeAll(async (messages) => {
      sizes.push(messages.length)
      all.push(...messages.map(({ payload }) => payload))
    })
  }
  expect(all).toEqual(Array.from({ length: 2_500 }, (_, n) => n))
  expect(sizes).toEqual([1_000, 1_000, 500])
})
