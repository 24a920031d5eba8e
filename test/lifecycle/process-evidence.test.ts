import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { startTimeOf, thisPlace } from '../../src/disk/index.js'
import type { LiveRun } from '../../src/lifecycle/agent-run.js'
import { processSeen } from '../../src/lifecycle/status/process-evidence.js'
import type { Instant } from '../../src/model/index.js'
import type { PaneInfo } from '../../src/terminal/index.js'
import { parsePanes } from '../../src/terminal/pane-list.js'
import { RUNNERS } from '../../src/tools/index.js'

const NOW = '2026-01-17T08:00:00.000Z' as Instant
const codex = RUNNERS.find(({ name }) => name === 'codex')

/** A process that has ended and that its parent, which calls itself tmux, has not taken notice of. */
async function unnoticed(): Promise<{ pid: number; parent: number }> {
  const directory = mkdtempSync(join(tmpdir(), 'skein-zombie-'))
  const path = join(directory, 'tmux-parent')
  // The second program takes the place of the shell and never asks for the end of the first.
  writeFileSync(path, `#!/bin/sh\nsleep 0.3 &\necho $!\nexec ${directory}/tmux\n`, {
    mode: 0o700,
  })
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

const NOTHING = { kind: 'panes', panes: new Map(), serverPid: 1 } as const

const live = (pid: number, start: number | undefined): LiveRun =>
  ({ id: 'run-1', pid, process_start: start, place: thisPlace(), pane: '%1', started_at: NOW }) as unknown as LiveRun
