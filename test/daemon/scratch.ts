import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { accessTo, type DaemonAccess, stopDaemon } from '../../src/daemon/index.js'
import { daemonUnder } from '../cli/world.js'
import { GONE } from '../support/gone.js'

/** A home of its own; its daemon ends with the test, and everything goes. */
export function scratchHome(under?: string): { root: string; access: DaemonAccess } {
  const scratch = mkdtempSync(join(tmpdir(), 'skein-daemon-'))
  const root = under === undefined ? join(scratch, 'home') : join(scratch, under)
  const access = accessTo(daemonUnder(root), 'default')
  onTestFinished(async () => {
    await stopDaemon(access)
    rmSync(scratch, GONE)
  })
  return { root, access }
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Waits for something that must come; the test's own time-out says when it did not. */
export async function until<T>(look: () => T | undefined | false | Promise<T | undefined | false>): Promise<T> {
  for (;;) {
    const found = await look()
    if (found !== undefined && found !== false) return found
    await pause(20)
  }
}
