import { tellSource } from '../log/tell-source.js'
import type { Launch } from '../run/tool-runner.js'

/** The extension of one run: says which conversation pi is in and what it does. */
export function piExtension(launch: Launch): string {
  return `${tellSource(launch, 'pi')}
const kind = ${JSON.stringify(launch.kind)}
const textOf = ({ content }) =>
  (Array.isArray(content) ? content : []).filter((part) => part.type === 'text').map((part) => part.text).join('\\n')

export default function (pi) {
  const on = (type, read = () => ({})) =>
    pi.on(type, (event, context) => {
      const manager = context.sessionManager
      tell({ type, session: manager?.getSessionId?.(), log: manager?.getSessionFile?.(), ...read(event) })
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
