import { askSource, tellSource } from '../log/tell-source.js'
import { INSTALLED_FILE, type InstalledSkein, installedWords } from '../run/hook-install.js'
import type { Launch } from '../run/tool-runner.js'

/** The extension of one run: says which conversation pi is in and what it does, and adds what Skein answers to the system prompt. */
export function piExtension(launch: Launch): string {
  return `${tellSource(launch, 'pi')}${askSource(launch.spool.answer?.words)}
const kind = ${JSON.stringify(launch.kind)}
const textOf = ({ content }) =>
  (Array.isArray(content) ? content : []).filter((part) => part.type === 'text').map((part) => part.text).join('\\n')

export default function (pi) {
  const on = (type, read = () => ({})) =>
    pi.on(type, (event, context) => {
      const manager = context.sessionManager
      tell({ type, session: manager?.getSessionId?.(), log: manager?.getSessionFile?.(), ...read(event) })
    })
  // Asked at once, waited for by the first prompt.
  let context = Promise.resolve('')
  const prime = (source, { sessionManager }, before = '') => {
    context = ask('SessionStart', { session_id: sessionManager?.getSessionId?.(), source })
      .then((text) => [before, text].filter((part) => part !== '').join('\\n\\n'))
  }
  const SOURCES = { startup: kind === 'resume' ? 'resume' : 'startup', new: 'clear', resume: 'resume', fork: 'startup' }
  pi.on('session_start', ({ reason }, current) => prime(SOURCES[reason] ?? 'resume', current))
  pi.on('session_compact', async (event, current) => prime('compact', current, await context))
  pi.on('session_before_compact', async (event, { sessionManager }) => {
    await ask('PreCompact', { session_id: sessionManager?.getSessionId?.() })
  })
  pi.on('before_agent_start', async ({ systemPrompt }) => {
    const text = await context
    return text === '' ? undefined : { systemPrompt: systemPrompt + '\\n\\n' + text }
  })
  on('session_start', ({ reason }) => ({ reason: reason === 'startup' ? kind : reason === 'new' ? 'cleared' : reason }))
  on('input', ({ text, source }) => ({ text, source }))
  on('agent_start')
  on('agent_end', ({ messages }) => {
    const last = messages.findLast((message) => message.role === 'assistant')
    return last ? { reply: textOf(last), stopReason: last.stopReason, error: last.errorMessage } : {}
  })
  on('session_compact')
  on('session_shutdown', ({ reason }) => ({ reason }))
}
`
}

/** The extension for conversations that the user begins. */
export const installedExtension = (
  skein: InstalledSkein,
): string => `${INSTALLED_FILE}import { env } from 'node:process'
${askSource(installedWords(skein, 'pi'))}
const SOURCES = { startup: 'startup', new: 'clear', resume: 'resume', fork: 'startup' }

export default function (pi) {
  if (env.SKEIN_RUN) return
  let context = Promise.resolve('')
  pi.on('session_start', ({ reason }, { sessionManager }) => {
    context = ask('SessionStart', { session_id: sessionManager?.getSessionId?.(), source: SOURCES[reason] ?? 'resume' })
  })
  pi.on('before_agent_start', async ({ systemPrompt }) => {
    const text = await context
    return text === '' ? undefined : { systemPrompt: systemPrompt + '\\n\\n' + text }
  })
}
`
