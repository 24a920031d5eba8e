import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { attachArgv, checkTmux, type PaneId, paneId } from '../../src/terminal/index.js'
import { context, eventually, fileText, Scratch, TMUX } from './scratch.js'

/** 3.2 does not tell by which signal a program ended. */
const HAS_SIGNALS = !/3\.2/.test(execFileSync(TMUX, ['-V'], { encoding: 'utf8' }))
const commandLineOf = (pid: number): string => readFileSync(`/proc/${pid}/cmdline`, 'utf8')

describe('a tmux server of ours', () => {
  it('knows nothing of the environment of whoever started it but what all programs need', async () => {
    await using scratch = new Scratch()
    const secret = { OPENAI_API_KEY: 'sk-of-the-user', SKEIN_RUN: 'x', TMUX: '/elsewhere,1,0', SSH_AUTH_SOCK: '/agent' }
    const environment = { PATH: process.env.PATH, HOME: scratch.path, LANG: 'C.UTF-8', ...secret }
    const terminal = await scratch.terminal({ environment })
    const seen = join(scratch.path, 'seen')
    const script = scratch.script(['sh', '-c', `env > ${seen}.part; mv ${seen}.part ${seen}; exec sleep 600`], {
      MY_KEY: 'only mine',
    })
    await terminal.create({ session: 'one', cwd: scratch.path, script, agent: 'a' })
    const env = await eventually('the program ran', () => fileText(seen))
    expect(env).toContain('MY_KEY=only mine')
    expect(env).toContain(`HOME=${scratch.path}\n`)
    const other = await scratch.create(terminal, 'two', ['sleep', '600'])
    const global = scratch.tmux('show-environment', '-g') + scratch.tmux('show-environment', '-t', 'two')
    const everywhere = env + global + readFileSync(`/proc/${other.pid}/environ`, 'latin1')
    for (const leaked of ['sk-of-the-user', '/elsewhere', '/agent', 'SKEIN_RUN'])
      expect(everywhere).not.toContain(leaked)
    expect(global).not.toContain('only mine')
    expect(readFileSync(`/proc/${other.pid}/environ`, 'latin1')).not.toContain('only mine')
  })

  it('has a plain command line, and so have our clients', async () => {
    await using scratch = new Scratch()
    const terminal = await scratch.terminal()
    await scratch.create(terminal, 'one', ['sleep', '600'])
    expect(commandLineOf(scratch.serverPid()).split('\0').slice(1, -1)).toEqual(
      `-S ${scratch.socket.path} -f /dev/null new-session -d -s _skein true ; set-option -t =_skein: remain-on-exit on`.split(
        ' ',
      ),
    )
    const clients = scratch.tmux('list-clients', '-F', '#{client_pid} #{client_flags} #{client_session}')
    expect(clients).toMatch(/^\d+ \S*control-mode\S* _skein\n$/)
    for (const flag of ['no-output', 'ignore-size']) expect(clients).toContain(flag)
  })

  it('is not stopped by an answer that takes too long, and goes on in step', async () => {
    await using scratch = new Scratch()
    const terminal = await scratch.terminal({ timeoutMs: 3_000 })
    const { pane } = await scratch.create(terminal, 'one', ['sh', '-c', 'echo on the screen; exec sleep 600'])
    const server = scratch.serverPid()
    process.kill(server, 'SIGSTOP')
    try {
      await expect(terminal.panes()).rejects.toMatchObject({ code: 'tmux-timeout' })
      await expect(terminal.capture(pane)).rejects.toMatchObject({ code: 'tmux-timeout' })
      // One that is not connected yet cannot know either.
      const late = await scratch.terminal({ timeoutMs: 3_000 })
      await expect(late.panes()).rejects.toMatchObject({ code: 'tmux-timeout' })
      process.kill(server, 'SIGCONT')
      expect(await eventually('it answers', () => terminal.panes().catch(() => undefined))).toHaveLength(1)
      expect(await terminal.capture(pane)).toContain('on the screen')
      expect(await eventually('the late one answers', () => late.panes().catch(() => undefined))).toHaveLength(1)
    } finally {
      process.kill(server, 'SIGCONT')
    }
  })

  it('leaves a terminal closed while it hangs, without waiting for it', async () => {
    await using scratch = new Scratch()
    const terminal = await scratch.terminal({ timeoutMs: 3_000 })
    await scratch.create(terminal, 'one', ['sleep', '600'])
    const server = scratch.serverPid()
    process.kill(server, 'SIGSTOP')
    try {
      await terminal[Symbol.asyncDispose]()
      await terminal[Symbol.asyncDispose]()
      const late = await scratch.terminal({ timeoutMs: 3_000 })
      await expect(late.panes()).rejects.toMatchObject({ code: 'tmux-timeout' })
      await late[Symbol.asyncDispose]()
      await expect(late.panes()).rejects.toThrow('closed')
    } finally {
      process.kill(server, 'SIGCONT')
    }
    await eventually('the client has left', () => (scratch.tmux('list-clients') === '' ? true : undefined))
  })

  it('is gone when it was killed while it was asked, and comes back with the next pane', async () => {
    await using scratch = new Scratch()
    const terminal = await scratch.terminal()
    await scratch.create(terminal, 'one', ['sleep', '600'])
    const server = scratch.serverPid()
    process.kill(server, 'SIGSTOP')
    const asked = terminal.panes()
    const renamed = terminal.rename('one', 'two')
    process.kill(server, 'SIGKILL')
    await expect(asked).rejects.toMatchObject({ code: 'tmux-gone' })
    await expect(renamed).rejects.toMatchObject({ code: 'tmux-gone' })
    await expect(terminal.panes()).rejects.toMatchObject({ code: 'tmux-gone' })
    expect(await scratch.create(terminal, 'three', ['sleep', '600'])).toMatchObject({ session: 'three' })
    expect((await terminal.panes()).map((pane) => pane.session)).toEqual(['three'])
  })

  it.each([{ kept: false }, { kept: true }])(
    'is shared by terminals that start it at the same moment, and does not die of it (kept: $kept)',
    async ({ kept }) => {
      await using scratch = new Scratch()
      const terminals = await Promise.all(Array.from({ length: 6 }, () => scratch.terminal({ kept })))
      await Promise.all(terminals.map((terminal, at) => scratch.create(terminal, `s${at}`, ['sleep', '600'])))
      for (const terminal of terminals) {
        expect((await terminal.panes()).map((pane) => pane.session).sort()).toEqual([
          's0',
          's1',
          's2',
          's3',
          's4',
          's5',
        ])
      }
      const [first] = terminals
      await expect(first && scratch.create(first, 's3', ['sleep', '600'])).rejects.toMatchObject({
        code: 'tmux-refused',
      })
    },
  )

  it('answers a terminal that does not stay connected, or is unknown while it hangs', async () => {
    await using scratch = new Scratch()
    const terminal = await scratch.terminal({ kept: false, timeoutMs: 3_000 })
    const { pane } = await scratch.create(terminal, 'one', ['sh', '-c', 'echo shown; exec sleep 600'])
    await eventually('it is drawn', async () => ((await terminal.capture(pane)).includes('shown') ? true : undefined))
    expect(await terminal.captureAll([paneId('%998'), pane, paneId('%999')])).toEqual(
      new Map([[pane, await terminal.capture(pane)]]),
    )
    expect(scratch.tmux('list-clients')).toBe('')
    const server = scratch.serverPid()
    process.kill(server, 'SIGSTOP')
    try {
      await expect(terminal.panes()).rejects.toMatchObject({ code: 'tmux-timeout' })
    } finally {
      process.kill(server, 'SIGCONT')
    }
    expect(await terminal.panes()).toHaveLength(1)
    process.kill(server, 'SIGKILL')
    await eventually('it is gone', () =>
      terminal.panes().catch((error) => (error.code === 'tmux-gone' ? true : undefined)),
    )
    expect(await scratch.create(terminal, 'two', ['sleep', '600'])).toMatchObject({ session: 'two' })
  })

  it('beside ours is not touched: neither its sessions nor its settings nor its hooks', async () => {
    await using theirs = new Scratch()
    await using scratch = new Scratch()
    theirs.tmux('-f', '/dev/null', 'new-session', '-d', '-s', 'mine', 'sleep 600')
    const state = () =>
      [
        'show-options -g',
        'show-options -s',
        'show-hooks -g',
        'list-panes -a',
        'show-environment -g',
        'list-keys -T root',
      ]
        .map((command) => theirs.tmux(...command.split(' ')))
        .join()
    const before = state()
    const terminal = await scratch.terminal()
    await scratch.create(terminal, 'one', ['sleep', '600'])
    await terminal.close('one')
    expect(state()).toBe(before)
  })

  it('that is somebody else’s keeps its settings when we are asked to use it', async () => {
    await using scratch = new Scratch()
    scratch.tmux('-f', '/dev/null', 'new-session', '-d', '-s', 'mine', 'sleep 600')
    scratch.tmux('set-hook', '-g', 'pane-died', 'display-message theirs')
    const state = () => scratch.tmux('show-options', '-g') + scratch.tmux('list-keys', '-T', 'root')
    const before = state()
    const terminal = await scratch.terminal()
    expect((await terminal.panes()).map((pane) => pane.session)).toEqual(['mine'])
    await scratch.create(terminal, 'one', ['sleep', '600'])
    const ours = /^@skein_\S+ .*\n/gm
    expect(state().replace(ours, '')).toBe(before.replace(ours, ''))
    expect(scratch.tmux('show-hooks', '-g', 'pane-died')).toMatch(/pane-died\[0\] display-message theirs/)
  })

  it('keeps what a pane wrote apart from what it is: many panes at once, some gone', async () => {
    await using scratch = new Scratch()
    const terminal = await scratch.terminal()
    const panes: PaneId[] = []
    for (let at = 0; at < 12; at += 1) {
      const shown = `pane ${at}\n%end 1 2 1\n%error 1 2 1\n%begin 3 4 1\n`
      const made = await scratch.create(terminal, `s${at}`, [
        'sh',
        '-c',
        'printf "%s\\033[31mred" "$1"; exec sleep 600',
        'sh',
        shown,
      ])
      panes.push(made.pane)
    }
    await eventually('all have drawn', async () =>
      [...(await terminal.captureAll(panes)).values()].every((screen) => screen.includes('red')) ? true : undefined,
    )
    await terminal.close('s5')
    const screens = await terminal.captureAll(panes)
    expect([...screens.keys()]).toEqual(panes.filter((_, at) => at !== 5))
    for (const [pane, screen] of screens)
      expect(screen.trimEnd()).toBe(`pane ${panes.indexOf(pane)}\n%end 1 2 1\n%error 1 2 1\n%begin 3 4 1\nred`)
    expect(await terminal.capture(panes[0] as PaneId, { styles: true })).toContain('\x1b[31mred')
  })

  it('gives back lines that have scrolled away, when asked', async () => {
    await using scratch = new Scratch()
    const terminal = await scratch.terminal()
    const { pane } = await scratch.create(terminal, 'long', ['sh', '-c', 'seq 1 500; exec sleep 600'])
    await eventually('it is drawn', async () => ((await terminal.capture(pane)).includes('500') ? true : undefined))
    expect(await terminal.capture(pane)).not.toContain('\n300\n')
    expect(await terminal.capture(pane, { history: 1_000 })).toContain('\n300\n')
  })

  it('runs another program in the same pane, with its mark and its place', async () => {
    await using scratch = new Scratch()
    const terminal = await scratch.terminal()
    const first = await scratch.create(terminal, 'one', ['sleep', '600'])
    const second = await terminal.respawn(first.pane, { cwd: '/', script: scratch.script(['sleep', '601']) })
    expect(second).toMatchObject({ pane: first.pane, session: 'one', agent: 'agent-one', isDead: false, cwd: '/' })
    expect(second.pid).not.toBe(first.pid)
    const third = await terminal.respawn(first.pane, { cwd: '/', script: scratch.script(['sh', '-c', 'kill -9 $$']) })
    await eventually('it is dead', async () => ((await terminal.pane(third.pane)).isDead ? true : undefined))
    const { exitStatus, exitSignal } = await terminal.pane(third.pane)
    expect([exitStatus, exitSignal]).toEqual([undefined, HAS_SIGNALS ? 9 : undefined])
    await expect(terminal.paste(third.pane, 'text')).rejects.toMatchObject({ code: 'tmux-refused' })
    await expect(terminal.press(third.pane, ['Enter'])).rejects.toMatchObject({ code: 'tmux-refused' })
    await terminal.respawn(first.pane, { cwd: '/', script: scratch.script(['sleep', '602']) })
    expect(await terminal.pane(first.pane)).toMatchObject({ isDead: false })
  })

  it('survives pastes into a program that ends at that moment', async () => {
    await using scratch = new Scratch()
    const terminal = await scratch.terminal()
    const { pid } = await scratch.create(terminal, 'stays', ['sleep', '600'])
    for (let round = 0; round < 10; round += 1) {
      const one = await scratch.create(terminal, `ends-${round}`, ['sleep', '600'])
      process.kill(one.pid, 'SIGKILL')
      const pastes = Array.from({ length: 20 }, () => terminal.paste(one.pane, 'text').catch((error) => error.code))
      expect(new Set(await Promise.all(pastes))).not.toContain('tmux-gone')
    }
    expect((await terminal.panes()).find(({ session }) => session === 'stays')).toMatchObject({ pid, isDead: false })
  })

  it('takes keys for the program also while its user has scrolled back', async () => {
    await using scratch = new Scratch()
    const terminal = await scratch.terminal()
    const { pane } = await scratch.create(terminal, 'one', ['cat'])
    scratch.tmux('copy-mode', '-t', pane)
    await terminal.press(pane, ['h', 'i', 'Enter'])
    await eventually('it was typed', async () => (/hi\nhi/.test(await terminal.capture(pane)) ? true : undefined))
  })
})

describe('tmux itself', () => {
  it('is missed with one clear error, also when it is too old', async () => {
    await using scratch = new Scratch()
    const fake = join(scratch.path, 'old-tmux')
    const says = (version: string) => {
      writeFileSync(fake, `#!/bin/sh\necho "tmux ${version}"\n`)
      chmodSync(fake, 0o755)
      return checkTmux({ executable: fake, environment: { PATH: process.env.PATH } })
    }
    await expect(scratch.terminal({ executable: 'no-such-tmux' })).rejects.toMatchObject({
      code: 'tmux-missing',
      next: expect.stringContaining('apt install tmux'),
    })
    for (const old of ['1.8', '2.9a', '3.0', '3.1c'])
      await expect(says(old)).rejects.toMatchObject({ code: 'tmux-missing' })
    for (const good of ['3.2', '3.2a', '3.3a', '3.5a', '3.10', '4.0', 'next-3.7', 'master', 'openbsd-7.6']) {
      expect((await says(good)).text).toBe(good)
    }
  })

  it('refuses sockets that cannot be, before anything is started', async () => {
    await using scratch = new Scratch()
    for (const socket of [{ name: 'a b' }, { name: '../x' }, { name: '' }, { path: `/tmp/${'x'.repeat(120)}` }]) {
      await expect(scratch.terminal({ socket })).rejects.toMatchObject({ code: 'bad-input' })
    }
  })
})

describe('attaching', () => {
  it('is a command outside tmux, a switch inside ours, a window inside another', async () => {
    const socket = { path: '/run/skein/tmux' }
    expect(attachArgv(socket, 'one')).toEqual(['tmux', '-u', '-S', socket.path, 'attach-session', '-E', '-t', '=one'])
    expect(attachArgv({ name: 'skein' }, 'one')).toEqual([
      'tmux',
      '-u',
      '-L',
      'skein',
      'attach-session',
      '-E',
      '-t',
      '=one',
    ])
    expect(attachArgv(socket, 'one', { insideTmux: '/run/skein/tmux,12,3' })).toContain('switch-client')
    expect(attachArgv(socket, 'a #(b)', { insideTmux: '/tmp/tmux-0/default,12,3' })).toEqual(
      '/tmux -S /tmp/tmux-0/default new-window -n a___b_ env -u TMUX tmux -u -S /run/skein/tmux attach-session -E -t'
        .slice(1)
        .split(' ')
        .concat('=a #(b)'),
    )
    expect(() => attachArgv(socket, '$(touch x)')).toThrow()
  })

  it('inside another tmux shows the agent, and C-q leads back to where the user was', async () => {
    await using outer = new Scratch()
    await using scratch = new Scratch()
    const terminal = await scratch.terminal()
    await scratch.create(terminal, 'agent', ['sh', '-c', 'echo HERE IS THE AGENT; exec cat'])
    outer.tmux('-f', '/dev/null', 'new-session', '-d', '-s', 'user', '-x', '100', '-y', '20', 'echo MY SHELL; exec cat')
    // Somebody looks at the outer server, from a terminal that can be read.
    await using looking = new Scratch()
    const look = `TERM=screen ${TMUX} -u -S ${outer.socket.path} attach-session`
    looking.tmux('-f', '/dev/null', 'new-session', '-d', '-s', 'look', '-x', '100', '-y', '22', look)
    const screen = () => looking.tmux('capture-pane', '-p', '-t', 'look')
    await eventually('the user is there', () => (screen().includes('MY SHELL') ? true : undefined))
    const [command, ...args] = attachArgv(scratch.socket, 'agent', {
      executable: TMUX,
      insideTmux: `${outer.socket.path},1,0`,
    })
    const child = spawn(command, args, { env: { PATH: process.env.PATH, TMUX: `${outer.socket.path},1,0` } })
    await eventually('the agent is shown', () => (screen().includes('HERE IS THE AGENT') ? true : undefined))
    expect((await terminal.panes())[0]?.isSeen).toBe(true)
    await eventually('the command has ended', () => child.exitCode ?? undefined)
    looking.tmux('send-keys', '-t', 'look', 'C-q')
    await eventually('the user is back', () => (screen().includes('MY SHELL') ? true : undefined))
    expect((await terminal.panes())[0]?.isSeen).toBe(false)
    await terminal.close('agent')
  })
})

describe('a terminal that was never used', () => {
  it('leaves nothing behind', async () => {
    await using scratch = new Scratch()
    const path = join(scratch.path, 'not', 'there', 'tmux')
    const terminal = await scratch.terminal({ socket: { path }, context })
    await expect(terminal.panes()).rejects.toMatchObject({ code: 'tmux-gone' })
    await terminal[Symbol.asyncDispose]()
    expect(existsSync(join(scratch.path, 'not'))).toBe(false)
    mkdirSync(join(scratch.path, 'not'))
  })
})
