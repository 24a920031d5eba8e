import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { crashesOnNotices } from '../../src/terminal/event-hooks.js'
import type { PaneEvent, Terminal } from '../../src/terminal/index.js'
import { eventually, Scratch, TMUX } from './scratch.js'

/** Collects events in the background until the scope ends. */
class Follower implements AsyncDisposable {
  readonly events: PaneEvent[] = []
  readonly #stop = new AbortController()
  readonly #done: Promise<void>

  constructor(terminal: Terminal) {
    this.#done = this.#collect(terminal)
  }

  async #collect(terminal: Terminal): Promise<void> {
    for await (const event of terminal.follow(this.#stop.signal)) this.events.push(event)
  }

  ofType<T extends PaneEvent['type']>(type: T): Extract<PaneEvent, { type: T }>[] {
    return this.events.filter((event): event is Extract<PaneEvent, { type: T }> => event.type === type)
  }

  /** Waits until there are so many of them. */
  saw(type: PaneEvent['type'], count = 1): Promise<boolean> {
    return eventually(`${count} x ${type}, got ${JSON.stringify(this.events.slice(-5))}`, () =>
      this.ofType(type).length >= count ? true : undefined,
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await this.#done
  }
}

/** Only there does the server have to be protected from telling a client that is connecting. */
const isGated = crashesOnNotices(execFileSync(TMUX, ['-V'], { encoding: 'utf8' }).replace(/^tmux /, ''))

describe('the events of a server', () => {
  it.runIf(isGated)('are held back until a client has connected, however long that takes, and come then', async () => {
    await using scratch = new Scratch()
    const first = await scratch.terminal({ kept: false })
    await scratch.create(first, 'first', ['sleep', '600'])
    const count = (): string => scratch.tmux('show-options', '-gqv', '@skein_events').trim()
    const before = count()
    const [asked, seen, slow] = ['asked', 'seen', 'slow'].map((name) => join(scratch.path, name))
    // Another program makes a session while the client takes its time; what was told by then is written down just before it connects.
    const tell = `touch ${asked}; sleep 1.2; ${TMUX} -S ${scratch.socket.path} show-options -gqv @skein_events >${seen}`
    writeFileSync(`${slow}`, `#!/bin/sh\ncase " $* " in *' -C '*) ${tell};; esac\nexec ${TMUX} "$@"\n`, { mode: 0o700 })
    const terminal = await scratch.terminal({ executable: `${slow}` })
    const panes = terminal.panes()
    await eventually('it is connecting', () => (existsSync(`${asked}`) ? true : undefined))
    scratch.tmux('new-session', '-d', '-s', 'second', 'sleep 600')
    expect(await panes).toHaveLength(2)
    expect(readFileSync(`${seen}`, 'utf8').trim()).toBe(before)
    await eventually('it was told', () => (Number(count()) > Number(before) ? true : undefined))
    expect(scratch.tmux('show-options', '-gqv', '@skein_connecting').trim()).toBe('')
  })

  it('tell of deaths with their status, titles, bells and sessions, numbered from one', async () => {
    await using scratch = new Scratch()
    const terminal = await scratch.terminal()
    await scratch.create(terminal, 'first', ['sleep', '600'])
    await using follower = new Follower(terminal)
    await follower.saw('sessions-changed')
    const acting =
      'printf "\\033]2;%s\\033\\\\" "a #{pane_id} \\$(title) ; x"; sleep 0.2; printf "\\a"; sleep 0.2; exit 7'
    const { pane } = await scratch.create(terminal, 'acts', ['sh', '-c', acting])
    await follower.saw('died')
    expect(follower.ofType('died')).toMatchObject([{ pane, exitStatus: 7 }])
    expect(follower.ofType('title').at(-1)).toMatchObject({ pane, title: 'a #{pane_id} $(title) ; x' })
    expect(follower.ofType('bell')).toMatchObject([{ pane }])
    expect(await terminal.pane(pane)).toMatchObject({ isDead: true, exitStatus: 7 })
    await terminal.close('acts')
    await follower.saw('session-closed')
    expect(follower.ofType('session-closed')).toMatchObject([{ session: 'acts' }])
    expect(follower.events.map((event) => event.number)).toEqual(follower.events.map((_, at) => at + 1))
  })

  it('are all told, once, to each of two followers, in a burst of 500', async () => {
    await using scratch = new Scratch()
    const terminal = await scratch.terminal()
    const other = await scratch.terminal()
    await scratch.create(terminal, 'keeps', ['sleep', '600'])
    await using one = new Follower(terminal)
    await using two = new Follower(other)
    await one.saw('sessions-changed')
    await two.saw('sessions-changed')
    // Each title is another one, each written on its own.
    const burst =
      'n=0; while [ $n -lt 500 ]; do n=$((n+1)); printf "\\033]2;title %s\\033\\\\" $n; done; exec sleep 600'
    const { pane } = await scratch.create(terminal, 'bursts', ['sh', '-c', burst])
    for (const follower of [one, two]) {
      await follower.saw('title', 500)
      await sleep(100)
      expect(follower.ofType('title')).toHaveLength(500)
      expect(follower.ofType('title').at(-1)).toMatchObject({ pane, title: 'title 500' })
      expect(follower.ofType('missed')).toEqual([])
    }
  })

  it('tell of every death, also of those that the server overlooked', async () => {
    await using scratch = new Scratch()
    const terminal = await scratch.terminal()
    await scratch.create(terminal, 'keeps', ['sleep', '600'])
    await using follower = new Follower(terminal)
    await follower.saw('sessions-changed')
    for (let n = 1; n <= 40; n += 1) {
      const { pane } = await scratch.create(terminal, `short-${n}`, ['true'])
      await follower.saw('died', n)
      expect(follower.ofType('died').at(-1)).toMatchObject({ pane, exitStatus: 0 })
    }
  })

  it('say so when more happened than is kept', async () => {
    await using scratch = new Scratch()
    const terminal = await scratch.terminal()
    await scratch.create(terminal, 'keeps', ['sleep', '600'])
    const follower = terminal.follow(AbortSignal.timeout(60_000))[Symbol.asyncIterator]()
    expect((await follower.next()).value).toMatchObject({ type: 'sessions-changed' })
    // Nobody reads meanwhile.
    const burst =
      'n=0; while [ $n -lt 3000 ]; do n=$((n+1)); printf "\\033]2;title %s\\033\\\\" $n; done; exec sleep 600'
    const { pane } = await scratch.create(terminal, 'bursts', ['sh', '-c', burst])
    await eventually('all is counted', () =>
      Number(scratch.tmux('show-options', '-gqv', '@skein_events')) >= 3_000 ? true : undefined,
    )
    expect((await follower.next()).value).toMatchObject({ type: 'missed' })
    const told: PaneEvent[] = []
    for (let n = 0; n < 2_048; n += 1) told.push((await follower.next()).value)
    expect(told.at(-1)).toMatchObject({ type: 'title', pane, title: 'title 3000' })
    await follower.return?.()
  })

  it('tell of a server that was killed and of the one that came after, whose events follow', async () => {
    await using scratch = new Scratch()
    const terminal = await scratch.terminal()
    await using early = new Follower(terminal)
    await early.saw('server-gone')
    await scratch.create(terminal, 'first', ['sleep', '600'])
    await early.saw('server-back')
    await using follower = new Follower(terminal)
    await follower.saw('sessions-changed')
    process.kill(scratch.serverPid(), 'SIGKILL')
    await follower.saw('server-gone')
    await expect(terminal.panes()).rejects.toMatchObject({ code: 'tmux-gone' })
    const { pane } = await scratch.create(terminal, 'second', ['sh', '-c', 'sleep 0.5; exit 3'])
    await follower.saw('server-back')
    await follower.saw('died')
    expect(follower.ofType('died')).toMatchObject([{ pane, exitStatus: 3 }])
    expect(follower.ofType('server-gone')).toHaveLength(1)
    await early.saw('died')
    expect(early.events.map((event) => event.type).filter((type) => type.startsWith('server'))).toEqual([
      'server-gone',
      'server-back',
      'server-gone',
      'server-back',
    ])
  })

  it('go on when our session was killed or our clients were sent away', async () => {
    await using scratch = new Scratch()
    const terminal = await scratch.terminal()
    const { pane } = await scratch.create(terminal, 'first', ['cat'])
    await using follower = new Follower(terminal)
    await follower.saw('sessions-changed')
    scratch.tmux('kill-session', '-t', '=_skein')
    expect((await terminal.panes()).map((info) => info.session)).toEqual(['first'])
    scratch.tmux('detach-client', '-s', '=_skein')
    await terminal.press(pane, ['C-d'])
    await follower.saw('died')
    expect(follower.ofType('server-gone')).toEqual([])
    expect(follower.ofType('session-closed')).toEqual([])
  })

  it('end when the signal says so, and with them the client', async () => {
    await using scratch = new Scratch()
    const terminal = await scratch.terminal()
    await scratch.create(terminal, 'first', ['sleep', '600'])
    {
      await using follower = new Follower(terminal)
      await follower.saw('sessions-changed')
      expect(scratch.tmux('list-clients').trim().split('\n')).toHaveLength(2)
    }
    await eventually('one client is left', () =>
      scratch.tmux('list-clients').trim().split('\n').length === 1 ? true : undefined,
    )
  })
})
