import { spawn } from 'node:child_process'
import { setPriority } from 'node:os'
import type { Home } from '../home/index.js'

/** Watching tells at once; this is for what it missed. With years of logs a look takes a third of a second. */
const LOOK_AGAIN_MS = 300_000
const LOW_PRIORITY = 10

/**
 * Reads what the tools write into their logs, as they write it. The first look may have gigabytes to read, so it is made by a process of
 * its own: its memory goes away with it, and the daemon stays small.
 */
export async function takeInLogs(
  home: Home,
  { skein, signal, say }: { skein: string; signal: AbortSignal; say: (line: string) => void },
): Promise<void> {
  const exitCode = await firstLook([skein, 'ingest', '--json', '--profile', home.profile], signal)
  if (exitCode !== 0 && !signal.aborted) say(`reading the logs for the first time ended with ${exitCode}`)
  if (signal.aborted) return
  await home.history.watch({ signal, lookAgainMs: LOOK_AGAIN_MS })
}

function firstLook(args: readonly string[], signal: AbortSignal): Promise<number | string> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, { stdio: 'ignore', cwd: '/', signal, killSignal: 'SIGTERM' })
    child.on('spawn', () => {
      try {
        setPriority(child.pid ?? 0, LOW_PRIORITY)
      } catch {
        // It runs all the same.
      }
    })
    child.on('error', (error) => resolve(error.message))
    child.on('exit', (code, killedBy) => resolve(code ?? killedBy ?? 'no reason'))
  })
}
