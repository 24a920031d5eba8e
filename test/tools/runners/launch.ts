import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SpooledMessage } from '../../../src/journal/index.js'
import { instantOf, parseAgentId, parseSessionId } from '../../../src/model/index.js'
import type { Launch } from '../../../src/tools/index.js'

export const ID = parseSessionId('11111111-1111-4111-8111-111111111111')
export const ORIGIN = parseSessionId('22222222-2222-4222-8222-222222222222')

/** A message that a program left in the spool. */
export const messageOf = (tool: string, payload: unknown): SpooledMessage => ({
  agent: 'a',
  run: 'r',
  tool,
  at: instantOf(0),
  payload,
})

/** A home directory of its own, and starts that happen in it. */
export function scratchLaunches(): Disposable & { readonly home: string; launch(over?: Partial<Launch>): Launch } {
  const home = mkdtempSync(join(tmpdir(), 'skein-launch-'))
  return {
    home,
    launch: (over = {}) => ({
      kind: 'new',
      session: ID,
      agent: parseAgentId('agent-1'),
      cwd: '/srv/web',
      startedAt: instantOf(Date.UTC(2026, 10, 15, 10, 0, 0)),
      directory: '/run/skein/agent-1',
      spool: { directory: '/run/skein/spool', run: 'run-1', command: `sh '/run/skein/put' "a b"` },
      environment: { home, env: {} },
      port: 4100,
      secret: 'not-for-arguments',
      ...over,
    }),
    [Symbol.dispose]: () => rmSync(home, { recursive: true, force: true }),
  }
}
