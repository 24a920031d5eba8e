import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import { BINARY, environmentIn } from './binary.js'
import { buildWorld, scratch } from './world.js'

const whichFzf = (): string => execFileSync('sh', ['-c', 'command -v fzf || true'], { encoding: 'utf8' }).trim()

const SOCKET = `skein-test-${process.pid}`

describe('in a real terminal', () => {
  const world = scratch()
  const env = environmentIn(world.path)
  const set = Object.entries(env).flatMap(([name, value]) => ['-e', `${name}=${value}`])
  /** A server of its own, whose socket goes with the directory. */
  const tmux = (...args: string[]): string =>
    execFileSync('tmux', ['-L', SOCKET, '-f', '/dev/null', ...args], {
      encoding: 'utf8',
      env: { ...env, TMUX_TMPDIR: world.path },
    })
  const screen = (): string => tmux('capture-pane', '-p', '-t', 'play')
  const keys = (...typed: string[]): string => tmux('send-keys', '-t', 'play', ...typed)
  /** Waits until the screen shows it, and gives the screen. */
  const shows = async (wanted: RegExp): Promise<string> => {
    for (let waited = 0; waited < 15_000; waited += 50) {
      const shown = screen()
      if (wanted.test(shown)) return shown
      await sleep(50)
    }
    throw new Error(`The screen never showed ${wanted}:\n${screen()}`)
  }
  /** What the terminal is set to: of a shell that echoes, unlike of a program that takes every key. */
  const settings = (): string => {
    const tty = tmux('display-message', '-p', '-t', 'play', '#{pane_tty}').trim()
    return execFileSync('stty', ['-F', tty, '-a'], { encoding: 'utf8' })
  }
  const isWhole = (): boolean => / icanon/.test(settings()) && / echo /.test(settings())
  const modes = (): string => tmux('display-message', '-p', '-t', 'play', '#{alternate_on} #{cursor_flag}').trim()
  /** Plays in a pane of its own, which stays when the replay is over. */
  const started = async (line: string, wanted = /turn \d of 7/): Promise<void> => {
    tmux(
      'respawn-pane',
      '-k',
      '-t',
      'play',
      ...set,
      'sh',
      '-c',
      `${process.execPath} ${BINARY} ${line}; echo ended with $?; sleep 600`,
    )
    await shows(wanted)
    expect({ isWhole: isWhole(), modes: modes() }).toEqual({ isWhole: false, modes: '1 0' })
  }
  const restored = async (): Promise<void> => {
    await shows(/ended with \d+/)
    for (let waited = 0; waited < 5_000 && !isWhole(); waited += 50) await sleep(50)
    expect({ isWhole: isWhole(), modes: modes() }).toEqual({ isWhole: true, modes: '0 1' })
  }

  beforeAll(async () => {
    await buildWorld(env.SKEIN_HOME ?? '')
    tmux('new-session', '-d', '-s', 'play', '-x', '90', '-y', '20', '-c', world.path, 'sleep 600')
    return () => {
      tmux('kill-server')
      world[Symbol.dispose]()
    }
  })

  it('replay plays, pauses, steps, changes speed and quits, and gives the terminal back', async () => {
    await started('replay 22222222 --speed 64')
    await shows(/turn 7 of 7 · 64x · the end/)
    keys('Space', 'p')
    await shows(/turn 6 of 7 · 64x · paused/)
    keys('p', 'p', ...Array<string>(7).fill('-'))
    expect(await shows(/turn 4 of 7 · 0.5x · paused/)).not.toContain('REPLY-FOUR')
    keys('Space')
    expect(await shows(/REPLY-FOUR: just text/)).toContain('> turn four please')
    keys('+')
    await shows(/ 1x /)
    keys('q')
    await restored()
    expect(screen()).toContain('ended with 0')
    expect(screen()).not.toContain('REPLY')
  })

  it('replay begins where it is told to', async () => {
    await started('replay 22222222 --from 3 --speed 0.125')
    expect(await shows(/turn 3 of 7 · 0.125x · playing/)).toContain('Turn 3')
    keys('C-c')
    await restored()
  })

  it.each(['INT', 'TERM'])('replay gives the terminal back when it gets SIG%s', async (signal) => {
    await started('replay 22222222 --speed 0.125')
    const shellPid = tmux('display-message', '-p', '-t', 'play', '#{pane_pid}').trim()
    const [pid] = readFileSync(`/proc/${shellPid}/task/${shellPid}/children`, 'utf8').split(' ')
    process.kill(Number(pid), `SIG${signal}`)
    await restored()
  })
  it('fork asks for the turn: typing filters, arrows move, Enter chooses, Escape leaves', async () => {
    await started('fork 22222222', /Turn\?/)
    keys('f', 'o', 'u', 'r')
    expect(await shows(/Turn\? four/)).toMatch(/> +4 +turn four please/)
    expect(screen()).toContain('REPLY-FOUR')
    keys(...Array<string>(4).fill('BSpace'), 'Up')
    expect(await shows(/> +6 /)).toContain('Turn?')
    keys('Down', 'Up', 'Up', 'Enter')
    await restored()
    expect(screen()).toMatch(/no snapshot of the files at the end of\s+turn 5/)
    await started('fork 22222222', /Turn\?/)
    keys('Escape')
    await restored()
    expect(screen()).toMatch(/No turn was chosen[\s\S]*ended with 2/)
  })

  it('the list of turns is drawn anew when the terminal gets another size, and Ctrl-C leaves it', async () => {
    await started('fork 22222222', /Turn\?/)
    tmux('resize-window', '-t', 'play', '-x', '60', '-y', '9')
    await shows(/^─{60}$/m)
    expect(await shows(/Enter to choose/)).toMatch(/^Turn\?/)
    tmux('resize-window', '-t', 'play', '-x', '90', '-y', '20')
    expect(await shows(/^─{90}$/m)).toMatch(/> +7 /)
    keys('C-c')
    await restored()
    expect(screen()).toMatch(/No turn was chosen[\s\S]*ended with 2/)
  })

  it('fork asks with fzf where that is asked for and installed', async () => {
    const line = `${process.execPath} ${BINARY} fork 22222222 --fzf; echo ended with $?; sleep 600`
    const play = (more: readonly string[] = []): string =>
      tmux('respawn-pane', '-k', '-t', 'play', ...set, ...more, 'sh', '-c', line)
    play()
    if (!/\/fzf$/.test(whichFzf())) expect(await shows(/ended with 2/)).toContain('fzf is not installed')
    writeFileSync(join(world.path, 'bin', 'fzf'), '#!/bin/sh\ngrep "turn four"\n', { mode: 0o755 })
    play()
    expect(await shows(/ended with 1/)).toMatch(/end of\s+turn 4/)
  })

  it('status --watch redraws in place, and gives the terminal back', async () => {
    await started('status --watch', /4 agents/)
    const skein = (line: string): string =>
      execFileSync(process.execPath, [BINARY, ...line.split(' ')], { encoding: 'utf8', env, cwd: world.path })
    skein('agents add web/extra --tool pi')
    const shown = await shows(/5 agents/)
    expect(shown).not.toContain('4 agents')
    expect(shown).toContain('✗ knife error')
    keys('q')
    await restored()
    expect(screen()).toContain('ended with 0')
    expect(screen()).not.toContain('agents')
    skein('agents remove web/extra')
    await started('status --watch', /4 agents/)
    keys('C-c')
    await restored()
    await started('status --watch', /4 agents/)
    const shellPid = tmux('display-message', '-p', '-t', 'play', '#{pane_pid}').trim()
    const [pid] = readFileSync(`/proc/${shellPid}/task/${shellPid}/children`, 'utf8').split(' ')
    process.kill(Number(pid), 'SIGTERM')
    await restored()
  })
})
