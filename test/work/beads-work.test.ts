import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { issueOf, storedTitle } from '../../src/work/beads/issue.js'
import { openTestHome, scratch } from '../home/scratch.js'

/** A home whose `bd` is this script; the real one is in e2e/beads.test.ts. */
async function homeWith(script: string | undefined, { hasStore = true } = {}) {
  const root = scratch()
  const program = join(root, 'bd')
  if (script !== undefined) {
    writeFileSync(program, `#!/bin/sh\n${script}\n`)
    chmodSync(program, 0o755)
  }
  const directory = join(root, 'project', '.beads')
  if (hasStore) {
    mkdirSync(directory, { recursive: true })
    writeFileSync(join(directory, 'metadata.json'), '{}')
  }
  writeFileSync(
    join(root, 'config.toml'),
    `[work]\nprovider = "beads"\nbeads_dir = "${directory}"\nbeads_program = "${program}"\n`,
  )
  const env = { PATH: process.env.PATH ?? '', CLAUDE_SESSION_ID: 'not-mine', BEADS_DB: '/elsewhere' }
  const { home } = await openTestHome(root, undefined, undefined, env)
  return { home, root, program, directory }
}

const BROKEN: [string, string | undefined, RegExp][] = [
  ['missing', undefined, /Cannot run .*\/bd, which keeps the work: it is not installed/],
  ['failing', 'echo "Error: the store is locked" >&2; exit 1', /bd list failed: the store is locked/],
  ['talking', 'echo "all is well"', /its answer is not JSON: "all is well"/],
  ['crashing', 'kill -SEGV $$', /bd list failed: exit status null/],
  ['endless', 'yes', /bd list failed: it printed more than 64 MB/],
]

for (const [name, script, message] of BROKEN) {
  it(`a bd that is ${name} is one error with a way out, and mail goes on without it`, async () => {
    const { home } = await homeWith(script)
    const kim = await home.roster.add({ address: 'web/kim', tool: 'claude' })
    const handoff = await home.work.send({ to: kim, subject: 'Go on', body: 'here', kind: 'handoff', is_hooked: true })
    await expect(home.work.list()).rejects.toMatchObject({
      code: 'work-provider',
      message: expect.stringMatching(message),
    })
    const health = await home.work.health()
    expect(health).toMatchObject({ ok: false, because: expect.stringMatching(/bd/), next: expect.stringMatching(/\S/) })
    const { work, mail, problem } = await home.work.hooked(kim)
    expect([work, mail.map(({ id }) => id), problem?.because]).toEqual([
      [],
      [handoff.id],
      expect.stringMatching(message),
    ])
    expect((await home.work.inbox(kim)).unread).toBe(1)
    await home[Symbol.asyncDispose]()
  })
}

it('an issue that cannot be read hides no other', async () => {
  const good = { id: 'web-1', title: 'Real', status: 'open', priority: 1, created_at: '2026-11-16T00:00:00Z' }
  const bad = [
    null,
    7,
    'text',
    [],
    {},
    { ...good, id: '../../x' },
    { ...good, id: ['web-2'] },
    { ...good, id: 'web-3', created_at: 'yesterday' },
    { ...good, id: 'web-4', created_at: { toString: 1 } },
    { ...good, id: '--force' },
  ]
  const odd = {
    ...good,
    id: 'web-5',
    title: { length: 3 },
    status: 12,
    priority: 'urgent',
    assignee: ['kim'],
    metadata: { skein_group: 3, skein_title: null, skein_agent_id: { a: 1 } },
    description: 4,
    close_reason: [],
  }
  const { home } = await homeWith(`printf '%s' '${JSON.stringify([...bad, good, odd])}'`)
  const units = await home.work.list()
  expect(units.map(({ id, status }) => [id, status]).sort()).toEqual([
    ['web-1', 'open'],
    ['web-5', 'open'],
  ])
  await home[Symbol.asyncDispose]()
})

it('a bd that hangs, with a child that keeps its output open, is ended with all of its group', async () => {
  const { home, root } = await homeWith('trap "" TERM; sleep 600 & echo $! > "$0.child"; echo $$ > "$0.pid"; wait')
  const kim = await home.roster.add({ address: 'web/kim', tool: 'claude' })
  const { problem } = await home.work.hooked(kim, { waitMs: 700 })
  expect(problem?.because).toMatch(/bd list failed: no answer within 0.7 s/)
  for (const file of ['bd.pid', 'bd.child']) {
    const pid = Number(readFileSync(join(root, file), 'utf8'))
    await expect.poll(() => stateOf(pid)).toMatch(/^(gone|Z)$/)
  }
  await home[Symbol.asyncDispose]()
})

const stateOf = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /, '')[0] ?? ''
  } catch {
    return 'gone'
  }
}

it('a directory without a store is refused before bd looks for one elsewhere', async () => {
  const { home, program, directory } = await homeWith('touch "$0.ran"; echo "[]"', { hasStore: false })
  const next = expect.stringContaining('bd init')
  await expect(home.work.add({ title: 'x' })).rejects.toMatchObject({
    code: 'work-provider',
    message: `There is no beads store in ${directory}`,
    next,
  })
  expect(await home.work.health()).toMatchObject({ ok: false, next })
  expect(existsSync(`${program}.ran`)).toBe(false)
  await home[Symbol.asyncDispose]()
})

it('bd is told the store and the actor, and nothing that led to the caller', async () => {
  const { home, program, directory } = await homeWith('env > "$0.env"; pwd >> "$0.env"; echo "[]"')
  expect(await home.work.list()).toEqual([])
  const env = readFileSync(`${program}.env`, 'utf8').split('\n')
  expect(env).toEqual(
    expect.arrayContaining([`BEADS_DIR=${directory}`, 'BD_ACTOR=tester', 'BD_DISABLE_METRICS=1', '/']),
  )
  expect(env.filter((line) => /^(CLAUDE_SESSION_ID|BEADS_DB)=/.test(line))).toEqual([])
  await home[Symbol.asyncDispose]()
})

it('settings that are incomplete or unknown are an error, and nothing is kept anywhere', async () => {
  for (const [settings, message] of [
    ['provider = "beads"', /work.beads_dir in .* is missing/],
    ['provider = "beads"\nbeads_dir = "here"', /work.beads_dir/],
    ['provider = "beads"\nbeads_dir = "/x"\nbeads_program = 3', /work.beads_program/],
    ['provider = "jira"', /"jira", which this version does not have/],
  ] as const) {
    const root = scratch()
    writeFileSync(join(root, 'config.toml'), `[work]\n${settings}\n`)
    const { home } = await openTestHome(root)
    const refused = { code: 'bad-config', message: expect.stringMatching(message) }
    await expect(home.work.add({ title: 'x' })).rejects.toMatchObject(refused)
    await expect(home.work.health()).rejects.toMatchObject(refused)
    expect(await home.events.read()).toEqual([])
    writeFileSync(join(root, 'config.toml'), '')
    expect(await home.work.health()).toEqual({ ok: true }) // corrected, without a new process
    await home[Symbol.asyncDispose]()
  }
})

it('a change of the settings counts for a process that is open, as a daemon is', async () => {
  const { home, root } = await homeWith('echo "[]"')
  const beads = readFileSync(join(root, 'config.toml'), 'utf8')
  expect(await home.work.keeper()).toBe('beads')
  writeFileSync(join(root, 'config.toml'), '')
  expect(await home.work.keeper()).toBe('built-in')
  writeFileSync(join(root, 'config.toml'), beads)
  expect(await home.work.keeper()).toBe('beads')
  await home[Symbol.asyncDispose]()
})

it('a title of more bytes than bd takes is kept whole, until somebody changes it in bd', () => {
  const whole = 'é🤝'.repeat(100)
  const { title, notes } = storedTitle(whole)
  expect(Buffer.byteLength(title)).toBeLessThanOrEqual(500)
  expect(whole.startsWith(title)).toBe(true)
  const at = '2026-11-16T16:47:33Z'
  const shown = (now: string) =>
    issueOf({ id: 'w-1', title: now, status: 'open', created_at: at, metadata: notes }, () => undefined).unit.title
  expect(shown(title)).toBe(whole)
  expect(shown('Another\n one')).toBe('Another one')
})

it('what was changed in bd itself is shown as it is: another assignee, a status of the user, a hook of nobody', () => {
  const at = '2026-11-16T16:47:33Z'
  const metadata = { skein_agent: 'web/kim', skein_agent_id: 'a-1', skein_reason: 'old', skein_reason_for: 'blocked' }
  const read = (fields: object) =>
    issueOf({ id: 'w-1', title: 'T', created_at: at, priority: 9, metadata, ...fields }, () => 'lab/kay' as never).unit
  expect(read({ status: 'hooked', assignee: 'web/kim' })).toMatchObject({
    agent: 'lab/kay',
    agent_id: 'a-1',
    priority: 2,
  })
  const taken = read({ status: 'hooked', assignee: 'web/lee' })
  expect([taken.agent, taken.agent_id]).toEqual(['web/lee', undefined])
  expect(read({ status: 'in_progress', assignee: '' })).toMatchObject({ status: 'open' })
  expect(read({ status: 'review', assignee: 'bob' })).toMatchObject({
    status: 'blocked',
    reason: 'its status in beads is "review"',
  })
  expect(read({ status: 'deferred' }).reason).toBeUndefined()
  expect(read({ status: 'blocked' }).reason).toBe('old')
  expect(() => issueOf({ id: '--all', title: 'T' }, () => undefined)).toThrow(/cannot be read/)
})
