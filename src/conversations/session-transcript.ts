import { dirname } from 'node:path'
import { SkeinError } from '../model/index.js'
import { DEFAULT_AGENT, parseAgentName } from './agent-name.js'
import { systemSurroundings, workingDirectory } from './environment.js'
import { parseKey } from './key.js'
import { mirrorMessage, mirrorText } from './mirror.js'
import { resolveDefaultSessionStorePath } from './session-paths.js'
import { loadSessionStore, updateSessionStoreEntry } from './session-store.js'
import { transcriptOf } from './transcript-name.js'
import { TranscriptWriter } from './transcript-writer.js'

/** Notes in the transcript what was delivered. Whatever the caller can do something about comes back as a reason. */
export async function appendAssistantMessageToSessionTranscript(params: {
  agentId?: string
  sessionKey: string
  text?: string
  mediaUrls?: string[]
  /** For tests and other stores than the agent's own. */
  storePath?: string
}): Promise<{ ok: true; sessionFile: string } | { ok: false; reason: string }> {
  const sessionKey = params.sessionKey.trim()
  if (sessionKey === '') return { ok: false, reason: 'missing sessionKey' }
  const text = mirrorText(params)
  if (text === undefined) return { ok: false, reason: 'empty text' }
  const agent = params.agentId === undefined ? DEFAULT_AGENT : parseAgentName(params.agentId)
  if (sessionKey.startsWith('agent:') && parseKey(sessionKey).agent !== agent) {
    return { ok: false, reason: `${sessionKey} belongs to another agent than "${agent}"` }
  }
  const storePath = params.storePath ?? resolveDefaultSessionStorePath(agent)
  const entry = loadSessionStore(storePath, { skipCache: true })[sessionKey]
  if (!entry) return { ok: false, reason: `unknown sessionKey: ${sessionKey}` }
  const sessionFile = transcriptOf(dirname(storePath), entry)
  try {
    using writer = await TranscriptWriter.open(sessionFile, {
      sessionId: entry.sessionId,
      cwd: workingDirectory(),
      surroundings: systemSurroundings,
      waitMs: 10_000,
    })
    writer.append(mirrorMessage(text))
  } catch (error) {
    if (error instanceof SkeinError && error.code === 'transcript-in-use') return { ok: false, reason: error.message }
    throw error
  }
  if (entry.sessionFile !== sessionFile)
    await updateSessionStoreEntry({ storePath, sessionKey, update: () => ({ sessionFile }) })
  return { ok: true, sessionFile }
}
