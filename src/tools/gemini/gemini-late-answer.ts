import { quoted } from '../../journal/index.js'
import { hookLine } from '../run/hook-line.js'
import type { Spool } from '../run/tool-runner.js'

/** How often, 100 ms apart, the first prompt waits for an answer that is still being made. */
const LOOKS = 20

/**
 * The line for `sh` of a hook in a run that resumes a conversation. Gemini CLI loads the conversation while its SessionStart hook
 * runs, and what the hook added is lost if that is done first. So the answer is kept in a file, and added to the next prompt.
 */
export function lateHookLine(spool: Spool, event: string): string {
  if (!spool.answer) return hookLine(spool, event)
  const [kept, made] = [quoted(`${spool.answer.script}-late`), quoted(`${spool.answer.script}-making`)]
  switch (event) {
    case 'SessionStart':
      return `umask 077; { { ${hookLine(spool, event)}; } >${made} || cat >/dev/null; mv ${made} ${kept}; } 2>/dev/null; exit 0`
    case 'BeforeAgent': {
      const wait = `n=0; while [ -e ${made} ] && [ $n -lt ${LOOKS} ]; do sleep 0.1; n=$((n+1)); done`
      return `( ${spool.command} ); ${wait}; cat ${kept} 2>/dev/null && rm -f ${kept}; exit 0`
    }
    default:
      return hookLine(spool, event)
  }
}
