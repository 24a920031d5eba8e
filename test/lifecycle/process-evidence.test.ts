import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { endOf, processStat, startTimeOf, thisPlace } from '../../src/disk/index.js'
import type { LiveRun } from '../../src/lifecycle/agent-run.js'
import { processSeen } from '../../src/lifecycle/status/process-evidence.js'
import type { Instant } from '../../src/model/index.js'
import type { PaneInfo } from '../../src/terminal/index.js'
import { parsePanes, settled } from '../../src/terminal/pane-list.js'
import { RUNNERS } from '../../src/tools/index.js'

const NOW = '2026-01-17T08:00:00.000Z' as Instant
const codex = RUNNERS.find(({ name }) => name === 'codex')

/** A process that has ended and that its parent, which calls itself tmux, has not taken notice of. */
async function unnoticed(how = 'exit 0'): Promise<{ pid: number; parent: number }> {
  const directory = mkdtempSync(join(tmpdir(), 'skein-zombie-'))
  const path = join(directory, 'tmux-parent')
  // It ends when the second program is there, which takes the place of the shell and never asks for the end of the first.
  writeFileSync(
    path,
    `#!/bin/sh\nsh -c 'while grep -q parent /proc/$PPID/comm; do :; done; ${how}' &\necho $!\nexec ${directory}/tmux\n`,
    {
      mode: 0o700,
    },
  )
  writeFileSync(join(directory, 'tmux'), `#!${process.execPath}\nsetInterval(() => {}, 1e6)\n`, { mode: 0o700 })
  const parent: ChildProcess = spawn(path, { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => {
    parent.kill('SIGKILL')
    rmSync(directory, { recursive: true, force: true })
  })
  const [printed] = await once(parent.stdout ?? parent, 'data')
  return { pid: Number(String(printed)), parent: parent.pid ?? 0 }
}

it('a process that has ended and is not noticed yet has left no shell behind', async () => {
  const { pid } = await unnoticed()
  const start = startTimeOf(pid)
  await expect
    .poll(() => processSeen(live(pid, start), NOTHING, undefined, codex, NOW).isOver, { timeout: 20_000 })
    .toBe(true)
  // tmux names it after the script that it ran.
  const pane = { pane: '%1', session: 'x', pid, serverPid: 1, command: 'sh', isDead: false } as unknown as PaneInfo
  const { evidence, isOver } = processSeen({ ...live(pid, start), program_pid: 2 ** 22 }, NOTHING, pane, codex, NOW)
  expect(evidence.reason).not.toMatch(/left a shell/)
  expect(isOver).toBe(false)
})

it('tmux is asked again about a pane whose process has ended without its notice', async () => {
  const { pid, parent } = await unnoticed()
  const line = (dead: string, of: number): string =>
    ['', '%1', 'x', parent, of, 80, 24, dead, '', '', 0, 0, 'agent', 'sh', 'title', '/'].join('|')
  await expect
    .poll(() => parsePanes([line('', pid)], '|')[0], { timeout: 20_000 })
    .toMatchObject({ unsettledIn: parent, hasEnded: true })
  expect(parsePanes([line('', process.pid)], '|')[0]).not.toHaveProperty('unsettledIn')
})

it.each([
  ['kill -9 $$', { exitSignal: 9 }],
  ['exit 3', { exitStatus: 3 }],
  ['exit 0', { exitStatus: 0 }],
])('how a program ended is known from the system where tmux does not notice it: %s', async (how, end) => {
  const { pid, parent } = await unnoticed(how)
  const line = ['', '%1', 'x', parent, pid, 80, 24, '', '', '', 0, 0, 'agent', 'sh', 'title', '/'].join('|')
  const pane = () => parsePanes([line], '|').find(({ hasEnded }) => hasEnded)
  await expect.poll(() => pane()?.unsettledIn, { timeout: 20_000 }).toBe(parent)
  const [info] = parsePanes([line], '|').map(settled)
  expect(info).toMatchObject({ isDead: true, ...end })
  expect(Object.keys(info ?? {}).filter((key) => key.startsWith('exit'))).toEqual(Object.keys(end))
})

it('a program whose first thread alone has left has not said how it ends; one that was killed has', async () => {
  const { pid } = await unnoticed()
  await expect.poll(() => endOf(pid), { timeout: 20_000 }).toEqual({ exitStatus: 0 })
  const stat = processStat(pid)
  if (!stat) throw new Error('its parent has taken notice of it')
  expect(endOf(pid, { ...stat, threads: 2 })).toBeUndefined()
  expect(endOf(pid, { ...stat, threads: 2, waitStatus: 9 })).toEqual({ exitSignal: 9 })
})

const NOTHING = { kind: 'panes', panes: new Map(), serverPid: 1 } as const

const live = (pid: number, start: number | undefined): LiveRun =>
  ({ id: 'run-1', pid, process_start: start, place: thisPlace(), pane: '%1', started_at: NOW }) as unknown as LiveRun
