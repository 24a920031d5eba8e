import type { Agent, SessionId } from '../../model/index.js'
import type { Preparation } from '../../tools/index.js'
import type { Parts } from '../parts.js'

/** What of the user's environment is about the terminal or the shell it was typed in, and not about the user. */
const NOT_PASSED_ON =
  /^(TMUX|TMUX_PANE|TERM|TERM_PROGRAM|TERM_PROGRAM_VERSION|TERM_SESSION_ID|COLORTERM|COLUMNS|LINES|PWD|OLDPWD|SHLVL|_|IFS|PPID|OPTIND|LINENO|SKEIN_AGENT|SKEIN_SESSION|SKEIN_ACTOR|SKEIN_RUN|NODE_CHANNEL_FD)$/
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/

export const isPassedOn = (name: string): boolean => VARIABLE.test(name) && !NOT_PASSED_ON.test(name)

/** The user's own, then what the tool needs, then what the user gave this agent, then who it is. */
export function launchEnvironment(
  parts: Parts,
  { agent, env }: { agent: Pick<Agent, 'address'>; env: Readonly<Record<string, string>> },
  preparation: Preparation,
  { id, session }: { id: string; session: SessionId | undefined },
): Record<string, string> {
  const all: Record<string, string | undefined> = {}
  for (const [name, value] of Object.entries(parts.environment.env)) if (isPassedOn(name)) all[name] = value
  Object.assign(all, preparation.env, env, {
    SKEIN_AGENT: agent.address,
    SKEIN_ACTOR: agent.address,
    SKEIN_RUN: id,
    ...(session ? { SKEIN_SESSION: session } : {}),
  })
  return Object.fromEntries(
    Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
}
