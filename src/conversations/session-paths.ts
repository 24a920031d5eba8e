import { join, resolve } from 'node:path'
import { DEFAULT_AGENT, parseAgentName } from './agent-name.js'
import { expandHome, stateDirectory } from './environment.js'
import { transcriptName } from './transcript/transcript-name.js'

/** `~/.clawcode/agents/<agentId>/sessions` */
export function resolveSessionTranscriptsDirForAgent(agentId?: string): string {
  return join(stateDirectory(), 'agents', agentId === undefined ? DEFAULT_AGENT : parseAgentName(agentId), 'sessions')
}

/** `~/.clawcode/agents/<agentId>/sessions/sessions.json` */
export function resolveDefaultSessionStorePath(agentId?: string): string {
  return join(resolveSessionTranscriptsDirForAgent(agentId), 'sessions.json')
}

/** `…/<sessionId>.jsonl`, or `…/<sessionId>-topic-<topicId>.jsonl`. An id that could leave the directory throws. */
export function resolveSessionTranscriptPath(sessionId: string, agentId?: string, topicId?: string | number): string {
  return join(resolveSessionTranscriptsDirForAgent(agentId), transcriptName(sessionId, topicId))
}

/** A configured path: `{agentId}` is filled in, a leading `~` is the home directory. None: the default store. */
export function resolveStorePath(store?: string, opts: { agentId?: string } = {}): string {
  const agent = opts.agentId === undefined ? DEFAULT_AGENT : parseAgentName(opts.agentId)
  if (!store?.trim()) return resolveDefaultSessionStorePath(agent)
  return resolve(expandHome(store.trim().replaceAll('{agentId}', agent)))
}
