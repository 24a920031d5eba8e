import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { withSessionStoreLock } from '../../src/conversations/index.js'

it('a process that works for 60 s under the lock of a store is not robbed of it', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'skein-lock-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const path = join(directory, 'sessions.json')
  const worker = fileURLToPath(new URL('../workers/hold-store-lock.mjs', import.meta.url))
  const child = spawn(process.execPath, [worker, path, '60000'], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  await new Promise((resolve) => child.stdout.once('data', resolve))
  const heldAt = performance.now()
  await withSessionStoreLock(path, async () => undefined, { timeoutMs: 100_000 })
  const waitedMs = performance.now() - heldAt
  console.log(`the second writer waited ${(waitedMs / 1000).toFixed(1)} s for a holder that worked for 60 s`)
  expect(waitedMs).toBeGreaterThan(59_000)
})
