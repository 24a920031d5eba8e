import type { Launch } from '../run/tool-runner.js'

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
