import { describe, expect, it } from 'vitest'
import type { Home } from '../../src/home/index.js'
import type { Agent, SessionId } from '../../src/model/index.js'

interface OpenedWork {
  home: Home
  close: () => PromiseLike<void>
}

const session = (id: string): SessionId => id as SessionId

/** What every keeper of work and mail must do. */
export function describeWorkProvider(name: string, open: () => Promise<OpenedWork>): void {
  const using = async (body: (home: Home, kim: Agent, lee: Agent) => Promise<void>): Promise<void> => {
    const { home, close } = await open()
    try {
      const kim = await home.roster.add({ address: 'web/kim', tool: 'claude' })
      const lee = await home.roster.add({ address: 'web/lee', tool: 'codex' })
      await body(home, kim, lee)
    } finally {
      await close()
    }
  }
  const failure = async (doing: Promise<unknown>): Promise<string> =>
    doing.then(
      () => 'none',
      (error: { code?: string }) => String(error.code ?? error),
    )

  describe(`work in ${name}`, () => {
    it('is healthy', () => using(async ({ work }) => expect(await work.health()).toEqual({ ok: true })))

    it('lists what was added, the most urgent first, and shows each', () =>
      using(async ({ work }) => {
        const usual = await work.add({ title: 'Fix the login', body: 'It fails\n\nin two lines' })
        const urgent = await work.add({ title: 'Put out the fire', priority: 0 })
        const late = await work.add({ title: 'Tidy up', priority: 4 })
        expect(usual).toMatchObject({ status: 'open', priority: 2, title: 'Fix the login' })
        expect((await work.list()).map(({ id }) => id)).toEqual([urgent.id, usual.id, late.id])
        expect((await work.show(usual.id)).body).toBe('It fails\n\nin two lines')
        expect(await work.list({ limit: 1 })).toHaveLength(1)
      }))

    it('keeps words as they were written, whatever they look like', () =>
      using(async ({ work }, kim) => {
        const words = [
          '--help',
          '-rf',
          '$(touch owned)',
          '`id`; rm',
          '"q" \'s\' \\n',
          '{"a":1}',
          'ünï 🤝 – ok',
          '@file',
          '-',
        ]
        for (const text of words) {
          const unit = await work.add({ title: text, body: `\n${text}\n- ${text}` })
          expect(await work.show(unit.id)).toMatchObject({ title: text, body: `\n${text}\n- ${text}` })
          const mail = await work.send({ to: kim, subject: text, body: text })
          expect(await work.readMail(mail.id, { peek: true })).toMatchObject({ subject: text, body: text })
          await work.hook(unit.id, kim)
          expect((await work.close(unit.id, { status: 'blocked', reason: text })).reason).toBe(text)
        }
      }))

    it('puts a unit on one hook, gives it to its owner again, and refuses it to others', () =>
      using(async ({ work }, kim, lee) => {
        const { id } = await work.add({ title: 'One' })
        expect(await work.hook(id, kim)).toMatchObject({ status: 'hooked', agent: 'web/kim', agent_id: kim.id })
        expect(await failure(work.hook(id, lee))).toBe('work-taken')
        expect(await work.hook(id, kim)).toMatchObject({ status: 'hooked', agent: 'web/kim' })
        expect((await work.hooked(kim)).work.map((unit) => unit.id)).toEqual([id])
        expect(await work.hooked(lee)).toEqual({ work: [], mail: [] })
        expect((await work.list({ agent: kim })).map((unit) => unit.id)).toEqual([id])
        expect(await work.begin(id)).toMatchObject({ status: 'in_progress', agent: 'web/kim' })
        expect((await work.hooked(kim)).work).toHaveLength(1)
        const free = await work.unhook(id)
        expect(free.status).toBe('open')
        expect(free.agent).toBeUndefined()
        expect(await work.hooked(kim)).toEqual({ work: [], mail: [] })
        expect(await work.hook(id, lee)).toMatchObject({ agent: 'web/lee' })
      }))

    it('gives a unit that several want at once to exactly one of them', () =>
      using(async ({ work, roster }) => {
        const agents = await Promise.all(
          ['a', 'b', 'c', 'd'].map((one) => roster.add({ address: `race/${one}`, tool: 'pi' })),
        )
        const { id } = await work.add({ title: 'Only one' })
        const codes = await Promise.all(agents.map((agent) => failure(work.hook(id, agent))))
        expect(codes.sort()).toEqual(['none', 'work-taken', 'work-taken', 'work-taken'])
        const owned = await Promise.all(agents.map(async (agent) => (await work.hooked(agent)).work.length))
        expect(owned.reduce((sum, count) => sum + count, 0)).toBe(1)
      }))

    it('closes a unit as done, deferred or blocked, and takes it off the hook', () =>
      using(async ({ work }, kim) => {
        const [done, deferred, blocked] = await Promise.all(['1', '2', '3'].map((title) => work.add({ title })))
        for (const unit of [done, deferred, blocked]) await work.hook(unit?.id ?? '', kim)
        const closed = await work.close(done?.id ?? '', { status: 'done', session: session('s-1') })
        expect(closed).toMatchObject({ status: 'done', closed_by_session: 's-1' })
        expect(closed.closed_at).toBeDefined()
        expect(await work.close(deferred?.id ?? '', { status: 'deferred', reason: 'later' })).toMatchObject({
          status: 'deferred',
          reason: 'later',
        })
        await work.close(blocked?.id ?? '', { status: 'blocked', reason: 'needs the key' })
        expect(await work.hooked(kim)).toEqual({ work: [], mail: [] })
        expect((await work.list()).map(({ id }) => id).sort()).toEqual([deferred?.id, blocked?.id].sort())
        expect((await work.list({ status: ['done'] })).map(({ id }) => id)).toEqual([done?.id])
        expect((await work.list({ status: ['blocked'] })).map(({ reason }) => reason)).toEqual(['needs the key'])
        expect(await failure(work.hook(done?.id ?? '', kim))).toBe('illegal-transition')
        expect(await failure(work.close(done?.id ?? '', { status: 'blocked' }))).toBe('illegal-transition')
        expect((await work.close(done?.id ?? '', { status: 'done' })).status).toBe('done')
      }))

    it('says what it does not have', () =>
      using(async ({ work }, kim) => {
        for (const id of ['w-nothere', '--all', '', 'a b', '../x', `w-${'x'.repeat(300)}`]) {
          expect(await failure(work.show(id))).toBe('work-not-found')
          expect(await failure(work.hook(id, kim))).toBe('work-not-found')
          expect(await failure(work.unhook(id))).toBe('work-not-found')
          expect(await failure(work.close(id, { status: 'done' }))).toBe('work-not-found')
          expect(await failure(work.readMail(id))).toBe('mail-not-found')
          expect(await failure(work.settleMail(id))).toBe('mail-not-found')
          expect(await failure(work.reply(id, { body: 'x' }))).toBe('mail-not-found')
        }
        const mail = await work.send({ to: kim, subject: 'Hi', body: 'x' })
        expect(await failure(work.show(mail.id))).toBe('work-not-found')
        const unit = await work.add({ title: 'x' })
        expect(await failure(work.readMail(unit.id))).toBe('mail-not-found')
      }))

    it('refuses words that say nothing or too much, and keeps nothing of them', () =>
      using(async ({ work }, kim) => {
        expect(await failure(work.add({ title: ' \n ' }))).toBe('bad-input')
        expect(await failure(work.add({ title: 'x'.repeat(501) }))).toBe('bad-input')
        expect(await failure(work.add({ title: 'x', body: 'y'.repeat(300_000) }))).toBe('bad-input')
        expect(await failure(work.send({ to: kim, subject: '', body: 'x' }))).toBe('bad-input')
        expect(await work.list()).toEqual([])
        expect((await work.inbox(kim)).unread).toBe(0)
      }))

    it('keeps no secret of a title, a body, a subject or a reason', () =>
      using(async ({ work }, kim) => {
        const secret = `ghp_${'aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF3gH5'}`
        const unit = await work.add({ title: `Use ${secret}`, body: `token=${secret}` })
        const mail = await work.send({ to: kim, subject: `Use ${secret}`, body: `It is ${secret}.` })
        await work.hook(unit.id, kim)
        const closed = await work.close(unit.id, { status: 'deferred', reason: `no ${secret}` })
        const seen = JSON.stringify([unit, mail, closed, await work.show(unit.id), await work.inbox(kim)])
        expect(seen).not.toContain(secret)
        expect(seen).toContain('Use ')
      }))

    it('keeps the hook and the mail of an agent that is renamed or moved', () =>
      using(async ({ work, roster }, kim) => {
        const unit = await work.add({ title: 'Stays' })
        await work.hook(unit.id, kim)
        const mail = await work.send({ to: kim, subject: 'Stays', body: 'too' })
        const handoff = await work.send({ to: kim, subject: 'Go on', body: 'here', kind: 'handoff', is_hooked: true })
        await roster.rename('web/kim', 'kay')
        const kay = await roster.move('web/kay', 'lab')
        expect(kay.address).toBe('lab/kay')
        const hooked = await work.hooked(kay)
        expect(hooked.work.map(({ id, agent }) => [id, agent])).toEqual([[unit.id, 'lab/kay']])
        expect(hooked.mail.map(({ id }) => id)).toEqual([handoff.id])
        expect((await work.inbox(kay)).mail.map(({ id, to }) => [id, to])).toEqual([
          [handoff.id, 'lab/kay'],
          [mail.id, 'lab/kay'],
        ])
        expect(await work.hook(unit.id, kay)).toMatchObject({ status: 'hooked', agent: 'lab/kay' })
      }))

    it('delivers mail to an agent, a role and a person, handoffs first', () =>
      using(async ({ work }, kim, lee) => {
        const mayor = { address: 'mayor' as Agent['address'] }
        const usual = await work.send({ to: kim, subject: 'Usual', body: 'b', from: lee })
        const urgent = await work.send({ to: kim, subject: 'Urgent', body: 'b', priority: 0 })
        const handoff = await work.send({ to: kim, subject: 'Handoff', body: 'b', kind: 'handoff' })
        await work.send({ to: mayor, subject: 'To a role', body: 'b' })
        expect(handoff.priority).toBe(1)
        const inbox = await work.inbox(kim)
        expect(inbox.mail.map(({ subject }) => subject)).toEqual(['Urgent', 'Handoff', 'Usual'])
        expect(inbox.unread).toBe(3)
        expect((await work.inbox(lee)).mail).toEqual([])
        expect((await work.inbox(mayor)).mail.map(({ subject }) => subject)).toEqual(['To a role'])
        expect((await work.readMail(usual.id, { session: session('s-9') })).from).toBe('web/lee')
        const read = await work.readMail(usual.id)
        expect(read.read_at).toBeDefined()
        expect(read.read_by).toBe('s-9')
        const left = await work.inbox(kim)
        expect(left.mail.map(({ id }) => id)).toEqual([urgent.id, handoff.id])
        expect((await work.inbox(kim, { all: true })).mail).toHaveLength(3)
      }))

    it('threads a reply to whoever wrote, under the address it has now', () =>
      using(async ({ work, roster }, kim, lee) => {
        const first = await work.send({ to: kim, subject: 'How?', body: 'Tell me', from: lee })
        await roster.rename('web/lee', 'leo')
        const reply = await work.reply(first.id, { body: 'Like this', from: kim })
        expect(reply).toMatchObject({ to: 'web/leo', subject: 'Re: How?', thread_id: first.id, reply_to: first.id })
        const again = await work.reply(reply.id, { body: 'Thanks' })
        expect(again).toMatchObject({ to: 'web/kim', subject: 'Re: How?', thread_id: first.id })
        expect((await work.inbox({ id: lee.id, address: 'web/leo' as Agent['address'] })).mail).toHaveLength(1)
      }))

    it('shows a message to a predecessor as stale, and last, by session ids alone', () =>
      using(async ({ work }, kim) => {
        const before = session('s-before')
        const old = await work.send({ to: kim, subject: 'Old', body: 'b', priority: 0, for_session: before })
        const handoff = await work.send({ to: kim, subject: 'H', body: 'b', kind: 'handoff', for_session: before })
        const fresh = await work.send({
          to: kim,
          subject: 'New',
          body: 'b',
          priority: 4,
          for_session: session('s-now'),
        })
        const seen = async (id: string): Promise<unknown> =>
          (await work.inbox(kim, { session: session(id) })).mail.map((mail) => [mail.id, mail.is_stale ?? false])
        expect(await seen('s-now')).toEqual([
          [handoff.id, false],
          [fresh.id, false],
          [old.id, true],
        ])
        expect(await seen('s-before')).toEqual([
          [old.id, false],
          [handoff.id, false],
          [fresh.id, true],
        ])
      }))

    it('holds a handoff mail on the hook until it is settled, once', () =>
      using(async ({ work }, kim, lee) => {
        const { id } = await work.send({ to: kim, subject: 'H', body: 'all of it', kind: 'handoff' })
        expect((await work.hookMail(id, kim)).is_hooked).toBe(true)
        expect((await work.hookMail(id, kim)).is_hooked).toBe(true)
        expect(await failure(work.hookMail(id, lee))).toBe('work-taken')
        await work.readMail(id)
        expect((await work.hooked(kim)).mail.map((mail) => mail.body)).toEqual(['all of it'])
        expect((await work.settleMail(id, { session: session('s-2') })).is_hooked ?? false).toBe(false)
        expect((await work.settleMail(id)).is_hooked ?? false).toBe(false)
        expect(await work.hooked(kim)).toEqual({ work: [], mail: [] })
        expect((await work.inbox(kim)).unread).toBe(0)
      }))

    it('keeps a pinned record of an agent’s handoffs, newest last', () =>
      using(async ({ work }, kim, lee) => {
        expect(await work.handoffRecord(kim)).toBeUndefined()
        for (let n = 1; n <= 3; n += 1) {
          await work.appendHandoffRecord(kim, { subject: `Handoff ${n}`, from_session: session(`s-${n}`) })
        }
        const record = await work.handoffRecord(kim)
        expect(record?.entries.map(({ subject }) => subject)).toEqual(['Handoff 1', 'Handoff 2', 'Handoff 3'])
        expect(record?.entries[2]).toMatchObject({ from_session: 's-3' })
        expect(await work.handoffRecord(lee)).toBeUndefined()
        expect(await work.list()).toEqual([])
      }))
  })
}
