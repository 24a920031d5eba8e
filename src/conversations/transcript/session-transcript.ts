import { dirname } from 'node:path'
import { SkeinError } from '../../model/index.js'
import { DEFAULT_AGENT, parseAgentName } from '../agent-name.js'
import { systemSurroundings, workingDirectory } from '../environment.js'
import { parseKey } from '../key.js'
import type { LockFile } from '../rows/lock-file.js'
import { loadSessionStore, updateSessionStoreEntry } from '../rows/session-store.js'
import { resolveDefaultSessionStorePath } from '../session-paths.js'
import { mirrorMessage } from './mirror.js'
import { transcriptOf } from './transcript-name.js'
import { lockTranscript, TranscriptWriter } from './transcript-writer.js'

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
  const message = mirrorMessage(params)
  if (!message) return { ok: false, reason: 'empty text' }
  const agent = params.agentId === undefined ? DEFAULT_AGENT : parseAgentName(params.agentId)
  if (sessionKey.startsWith('agent:') && parseKey(sessionKey).agent !== agent) {
    return { ok: false, reason: `${sessionKey} belongs to another agent than "${agent}"` }
  }
  const storePath = params.storePath ?? resolveDefaultSessionStorePath(agent)
  const find = () => loadSessionStore(storePath, { skipCache: true })[sessionKey]
  for (;;) {
    const entry = find()
    if (!entry) return { ok: false, reason: `unknown sessionKey: ${sessionKey}` }
    const sessionFile = transcriptOf(dirname(storePath), entry)
    let lock: LockFile
    try {
      lock = await lockTranscript(sessionFile, 10_000)
    } catch (error) {
      if (error instanceof SkeinError && error.code === 'transcript-in-use') return { ok: false, reason: error.message }
      throw error
    }
    if (find()?.sessionId !== entry.sessionId) {
      lock[Symbol.dispose]() // reset while we waited: nobody would read what we write here
      continue
    }
    const { sessionId } = entry
    const surroundings = systemSurroundings
    {
      using writer = TranscriptWriter.under(lock, sessionFile, { sessionId, cwd: workingDirectory(), surroundings })
      writer.append(message)
    }
    if (entry.sessionFile !== sessionFile) {
      await updateSessionStoreEntry({
        storePath,
        sessionKey,
        update: (now) => (now.sessionId === sessionId ? { sessionFile } : null),
      })
    }
    return { ok: true, sessionFile }
  }
}
