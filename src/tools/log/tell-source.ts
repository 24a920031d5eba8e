import type { Launch } from '../run/tool-runner.js'

/** Milliseconds that a program waits for an answer, at most. Skein itself gives up sooner. */
const ANSWER_MS = 5_000

/**
 * JavaScript that defines `tell(payload)`, for programs that load code of ours: it puts one message into the spool. A spool that
 * cannot be written must not stop the agent.
 */
export function tellSource({ agent, spool }: Launch, tool: string): string {
  const head = { v: 1, agent, run: spool.run, tool }
  return `import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const spool = ${JSON.stringify(spool.directory)}
const head = ${JSON.stringify(head)}

function tell(payload) {
  const name = process.hrtime.bigint() + '-' + process.pid
  try {
    const content = JSON.stringify({ ...head, pid: process.pid }) + '\\n' + JSON.stringify(payload) + '\\n'
    writeFileSync(join(spool, '.' + name), content, { mode: 0o600 })
    renameSync(join(spool, '.' + name), join(spool, name + '.msg'))
  } catch {}
}
`
}

/**
 * JavaScript that defines `ask(event, payload)`, which resolves with Skein's answer as text: empty where there is none, whatever the
 * reason. `words` are those of `HookAnswer`. It never rejects, and takes a few seconds at most.
 */
export function askSource(words: readonly string[] | undefined): string {
  return `import { execFile } from 'node:child_process'

const answerWords = ${JSON.stringify(words ?? null)}

function ask(event, payload) {
  return new Promise((resolve) => {
    if (!answerWords) return resolve('')
    try {
      const [program, ...words] = answerWords
      const options = { timeout: ${ANSWER_MS}, killSignal: 'SIGKILL', maxBuffer: 1 << 20 }
      const child = execFile(program, [...words, event, '--pid', String(process.pid)], options, (error, stdout) =>
        resolve(error ? '' : stdout.trim()))
      child.stdin.on('error', () => {})
      child.stdin.end(JSON.stringify({ hook_event_name: event, ...payload }))
    } catch {
      resolve('')
    }
  })
}
`
}
