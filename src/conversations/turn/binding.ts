import { createHash } from 'node:crypto'
import type { EntryPatch, SdkFingerprint, SessionEntry } from '../entry.js'

/** What a run is about to use. */
export interface RunShape {
  cwd: string
  model?: string
  mcpServers?: Record<string, unknown>
}

/** The MCP servers are hashed: their definitions hold tokens, and only "the same or not" is asked. */
export function fingerprintOf({ cwd, model, mcpServers = {} }: RunShape): SdkFingerprint {
  const servers = Object.keys(mcpServers).sort()
  const mcp = createHash('sha256').update(JSON.stringify(servers.map((name) => [name, shapeOf(mcpServers[name])])))
  return { cwd, ...(model === undefined ? {} : { model }), mcp: mcp.digest('hex').slice(0, 16) }
}

/** A server that lives in this process is an object with functions; its name is all that can be compared. */
function shapeOf(server: unknown): unknown {
  const { instance, ...plain } = (server ?? {}) as Record<string, unknown>
  return instance === undefined ? plain : { type: plain.type, name: plain.name }
}

/** What to do about an entry's SDK session when a run is about to start. */
export type Resumption =
  | { kind: 'resume'; sdkSessionId: string }
  | { kind: 'start' }
  /** There is a session, but made under other conditions: resuming it would mislead the model. */
  | { kind: 'start-anew'; sdkSessionId: string; because: string }

/** An id without a fingerprint was stored by the original or by hand; it is tried, and gets one. */
export function resumptionOf(entry: SessionEntry, run: SdkFingerprint): Resumption {
  const sdkSessionId =
    entry.sdkSessionId ?? entry.claudeCliSessionId ?? entry.cliSessionIds?.['claude-cli'] ?? entry.cliSessionIds?.claude
  if (sdkSessionId === undefined) return { kind: 'start' }
  const made = entry.sdkFingerprint
  if (made === undefined) return { kind: 'resume', sdkSessionId }
  if (made.cwd !== run.cwd) {
    return { kind: 'start-anew', sdkSessionId, because: `its working directory was ${made.cwd}, now ${run.cwd}` }
  }
  if (made.mcp !== run.mcp) return { kind: 'start-anew', sdkSessionId, because: 'its MCP servers have changed' }
  if (made.model !== run.model) {
    return {
      kind: 'start-anew',
      sdkSessionId,
      because: `its model was ${made.model ?? 'the default'}, now ${run.model ?? 'the default'}`,
    }
  }
  return { kind: 'resume', sdkSessionId }
}

/** The fields that bind a session; the legacy ones go, so that there is one answer. */
export const bound = (sdkSessionId: string, sdkFingerprint: SdkFingerprint): EntryPatch => ({
  ...UNBOUND,
  sdkSessionId,
  sdkFingerprint,
})

export const UNBOUND: EntryPatch = {
  sdkSessionId: undefined,
  sdkFingerprint: undefined,
  claudeCliSessionId: undefined,
  cliSessionIds: undefined,
}
