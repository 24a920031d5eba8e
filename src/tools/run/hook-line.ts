import { quoted } from '../../journal/index.js'
import type { Spool } from './tool-runner.js'

/** Hooks of which the program reads the output. Claude Code, Codex and Gemini CLI name them alike. */
const ANSWERED: readonly string[] = ['SessionStart', 'PreCompact']

/**
 * The line for `sh` that a hook is configured with: into the spool and nothing else, or for hooks that are answered, the run's script.
 * It ends with 0 and prints nothing when the script is gone: programs take some exit statuses for a refusal.
 */
export function hookLine({ command, answer }: Spool, event: string): string {
  if (!answer || !ANSWERED.includes(event)) return command
  return `sh ${quoted(answer.script)} ${event} "$PPID" 2>/dev/null || cat >/dev/null`
}
