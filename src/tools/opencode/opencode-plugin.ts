import { join } from 'node:path'
import type { SessionId } from '../../model/index.js'
import { askSource, tellSource } from '../log/tell-source.js'
import { INSTALLED_FILE, type InstalledSkein, installedWords } from '../run/hook-install.js'
import type { Launch } from '../run/tool-runner.js'

/**
 * The plugin of one run. opencode loads it before its screen opens the conversation, so it can make one under the id that we
 * chose: the API takes an id, the command line does not. Sub-agents are conversations of their own whose state is not the
 * agent's, but what they ask for is. What Skein answers goes into the system prompt, again with every request: nothing else reaches the
 * model without being part of the conversation.
 *
 * The variable that names the plugin is inherited by an opencode that the agent itself starts (`opencode run` in a shell). There the
 * plugin does nothing: only the first process that loads it is the agent.
 */
export function opencodePlugin(launch: Launch, session: SessionId | undefined): string {
  const owner = join(launch.directory, 'opencode.pid')
  const facts = { kind: launch.kind, session, authorization: basicAuthorization(launch.secret), owner }
  return `${tellSource(launch, 'opencode')}${askSource(launch.spool.answer?.words)}import { readFileSync } from 'node:fs'

const { kind, session, authorization, owner } = ${JSON.stringify(facts)}
${PLUGIN}`
}

const PLUGIN = `const OWN = ['session.status', 'session.idle', 'session.error', 'session.compacted']
const ASKED = ['permission.asked', 'permission.replied', 'question.asked', 'question.replied', 'question.rejected']
const children = new Set()
const made = new Set()
const replies = new Map()
const refused = new Set()
const contexts = new Map()
let current = session

function isAgent() {
  try {
    writeFileSync(owner, String(process.pid), { flag: 'wx', mode: 0o600 })
    return true
  } catch (error) {
    if (error.code !== 'EEXIST') return true // then nobody can know
  }
  const first = Number(readFileSync(owner, 'utf8'))
  if (first === process.pid) return true
  try {
    process.kill(first, 0)
    return false
  } catch {}
  writeFileSync(owner, String(process.pid), { mode: 0o600 }) // it has started itself again
  return true
}

// Asked when the conversation is opened, waited for by its first request. opencode may load a plugin more than once in one process.
function prime(sessionID, source) {
  if (source !== 'compact' && contexts.has(sessionID)) return
  const before = contexts.get(sessionID) ?? []
  const texts = Promise.all([before, ask('SessionStart', { session_id: sessionID, source })])
  contexts.set(sessionID, texts.then(([told, text]) => (text === '' || told.includes(text) ? told : [...told, text])))
}

// Of the older API nothing may be asked here: it answers only when all plugins are loaded.
async function open(serverUrl, directory) {
  const headers = { authorization, 'content-type': 'application/json' }
  const ask = async (path, init) => {
    for (let tries = 1; ; tries += 1) {
      try {
        return await fetch(new URL(path, serverUrl), { headers, signal: AbortSignal.timeout(15_000), ...init })
      } catch (error) {
        if (tries === 4) throw error // a slow machine answers late
        await new Promise((resolve) => setTimeout(resolve, 250))
      }
    }
  }
  const isThere = kind === 'resume' && (await ask('/api/session/' + session)).ok
  const body = JSON.stringify({ id: session, location: { directory } })
  if (!isThere) await ask('/api/session', { method: 'POST', body })
  tell({ type: 'skein.started', sessionID: session, how: isThere ? 'resume' : 'startup' })
  prime(session, isThere ? 'resume' : 'startup')
}

function howTo(sessionID) {
  if (sessionID === current) return 'unchanged'
  const isFirst = current === undefined
  current = sessionID
  if (isFirst) return kind === 'fork' ? 'fork' : 'startup'
  return made.has(sessionID) ? 'clear' : 'resume'
}

const endOf = (sessionID) => (refused.has(sessionID) ? { refused: true } : { reply: replies.get(sessionID) })

function hear({ type, properties }) {
  const { sessionID, info, part } = properties ?? {}
  if (type === 'session.created') {
    if (info?.parentID) children.add(sessionID)
    else {
      made.add(sessionID)
      if (current === undefined) tell({ type, sessionID, how: howTo(sessionID) })
    }
  } else if (type === 'message.part.updated' && part?.type === 'text' && part.time?.end) replies.set(sessionID, part.text)
  else if (ASKED.includes(type)) {
    // This ends the turn, unless it came with words or the user's settings let the model go on: then it is busy again before it is idle.
    if (type === 'question.rejected' || properties.reply === 'reject') refused.add(sessionID)
    tell({ type, ...properties })
  } else if (OWN.includes(type) && !children.has(sessionID)) {
    if (type === 'session.compacted') prime(sessionID, 'compact')
    if (properties.status?.type === 'busy') refused.delete(sessionID)
    tell({ type, ...properties, ...(type === 'session.idle' ? endOf(sessionID) : {}) })
  }
}

export const Skein = async ({ directory, serverUrl }) => {
  if (!isAgent()) return {}
  if (session !== undefined && kind !== 'fork') await open(serverUrl, directory).catch((error) => tell({ type: 'skein.failed', error: String(error) }))
  return {
    event: async ({ event }) => hear(event),
    'chat.message': async ({ sessionID }, { parts }) => {
      if (children.has(sessionID)) return
      replies.delete(sessionID)
      refused.delete(sessionID)
      const prompt = parts.filter((part) => part.type === 'text' && !part.synthetic).map((part) => part.text).join('\\n')
      const how = howTo(sessionID)
      tell({ type: 'chat.message', sessionID, prompt, how })
      if (!contexts.has(sessionID)) prime(sessionID, how === 'clear' || how === 'resume' ? how : 'startup')
    },
    'experimental.chat.system.transform': async ({ sessionID }, { system }) => {
      if (sessionID === undefined || children.has(sessionID) || !contexts.has(sessionID)) return
      for (const text of await contexts.get(sessionID)) if (!system.includes(text)) system.push(text)
    },
    'experimental.session.compacting': async ({ sessionID }) => {
      if (!children.has(sessionID)) await ask('PreCompact', { session_id: sessionID })
    },
  }
}
`

/** The plugin for conversations that the user begins: it asks once for each, and adds the answer to the system prompt. */
export const installedPlugin = (skein: InstalledSkein): string => `${INSTALLED_FILE}import { env } from 'node:process'
${askSource(installedWords(skein, 'opencode'))}
const contexts = new Map()

export const Skein = async () => {
  if (env.SKEIN_RUN) return {}
  return {
    'chat.message': async ({ sessionID }) => {
      if (!contexts.has(sessionID)) contexts.set(sessionID, ask('SessionStart', { session_id: sessionID, source: 'startup' }))
    },
    'experimental.chat.system.transform': async ({ sessionID }, { system }) => {
      const text = await contexts.get(sessionID)
      if (text && !system.includes(text)) system.push(text)
    },
  }
}
`

/** opencode's API asks for a name and the password it was started with. */
export const OPENCODE_USER = 'opencode'
export const basicAuthorization = (secret: string): string =>
  `Basic ${Buffer.from(`${OPENCODE_USER}:${secret}`).toString('base64')}`
