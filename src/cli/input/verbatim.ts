import { SkeinError } from '../../model/index.js'
import { flag } from '../../operations/index.js'
import type { Output } from '../screen/output.js'

/** Shared by the commands that show what was said. */
export const verbatimFlag = flag('Show the log unfiltered, secrets included. Only on a terminal')

/** What is unfiltered must not end in a file, a pipe or another agent's context by mistake. */
export function refuseVerbatimOutput(verbatim: boolean, command: string, out: Output): void {
  if (!verbatim || out.isTerminal) return
  throw new SkeinError(
    'usage',
    '--verbatim shows secrets, so it prints only to a terminal',
    `Without it, secrets are redacted: skein ${command}`,
  )
}
