import { agentRef, type Field, optional, usageError } from '../../operations/index.js'
import type { Cli } from '../command.js'

/** An agent that need not be named inside of one. */
export const ownAgent = (summary: string): Field<string | undefined, false> =>
  optional(agentRef, summary, { fallback: '$SKEIN_AGENT' })

/** The agent that is named, or the one this process runs in. */
export function agentOf(named: string | undefined, { currentAgent }: Pick<Cli, 'currentAgent'>): string {
  const agent = named ?? currentAgent
  if (agent) return agent
  throw usageError('No agent is named, and SKEIN_AGENT is not set', 'Name one; see: skein list')
}

/** The session that is named, or the one that the agent is in now: after a clear that is another than it was started with. */
export function sessionOf(named: string | undefined, { currentAgent, currentSession }: Cli): string {
  const session = named ?? currentAgent ?? currentSession
  if (session) return session
  throw usageError(
    'No session is named, and neither SKEIN_AGENT nor SKEIN_SESSION is set',
    'Name one; see: skein sessions list',
  )
}

/** Text as it was given, or all of standard input for `-`. */
export const givenText = <Text extends string | undefined>(text: Text, { stdin }: Pick<Cli, 'stdin'>): Text | string =>
  text === '-' ? stdin() : text
