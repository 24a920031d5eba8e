import type { SessionId } from '../../model/index.js'
import type { Preparation } from '../../tools/index.js'
import type { Parts } from '../parts.js'
import { IDENTITY_NAMES, identityVariables } from './identity-variables.js'
import type { PreparedRun } from './launch.js'

/** What of the user's environment is about the terminal or the shell it was typed in, and not about the user. */
const NOT_PASSED_ON =
  /^(TMUX|TMUX_PANE|TERM|TERM_PROGRAM|TERM_PROGRAM_VERSION|TERM_SESSION_ID|COLORTERM|COLUMNS|LINES|PWD|OLDPWD|SHLVL|_|IFS|PPID|OPTIND|LINENO|SKEIN_AGENT|SKEIN_ROLE|SKEIN_SESSION|SKEIN_ACTOR|SKEIN_RUN|SKEIN_PASSPHRASE|NODE_CHANNEL_FD)$/
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/

export const isPassedOn = (name: string): boolean => VARIABLE.test(name) && !NOT_PASSED_ON.test(name)

/** The user's own, then what the tool needs, then who the agent is to others, then what the user gave it, then who it is to Skein. */
export function launchEnvironment(
  parts: Parts,
  { agent, env, recipe, runner, roles, tmuxSession, launch }: PreparedRun,
  preparation: Preparation,
  { id, session }: { id: string; session: SessionId | undefined },
): Record<string, string> {
  const all: Record<string, string | undefined> = {}
  // Typed by an agent: who that is must not become who the new one is.
  const isInherited = parts.environment.env.SKEIN_RUN !== undefined
  for (const [name, value] of Object.entries(launch.environment.env))
    if (isPassedOn(name) && !(isInherited && IDENTITY_NAMES.includes(name))) all[name] = value
  const { tool, cwd } = recipe
  const { SKEIN_AGENT, SKEIN_SESSION, ...others } = identityVariables(parts, runner, roles, {
    agent,
    tool,
    cwd,
    tmuxSession,
    session,
  })
  Object.assign(all, preparation.env, others, env, {
    SKEIN_AGENT,
    SKEIN_ACTOR: agent.address,
    SKEIN_RUN: id,
    ...(session ? { SKEIN_SESSION } : {}),
  })
  return Object.fromEntries(
    Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
}
