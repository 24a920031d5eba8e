import { dirname } from 'node:path'
import type { Agent, RoleIdentity, Roles, SessionId } from '../../model/index.js'
import type { ToolRunner } from '../../tools/index.js'
import type { AgentRun } from '../agent-run.js'
import { type Parts, runnerOf } from '../parts.js'

/** Variables that say who an agent is. Undefined for those that this agent does not have: a value of another one must not stay. */
export type IdentityVariables = Readonly<Record<string, string | undefined>>

/** Gas Town's own names, set with its preset alone. */
const GASTOWN_NAMES = [
  'GT_ROLE',
  'GT_RIG',
  'GT_CREW',
  'GT_POLECAT',
  'GT_DOG_NAME',
  'GT_ROOT',
  'GT_TOWN_ROOT',
  'GT_SESSION',
  'GT_SESSION_UUID',
  'GT_AGENT',
  'GT_POLECAT_PATH',
  'BD_ACTOR',
  'BEADS_AGENT_NAME',
  'GIT_AUTHOR_NAME',
  'GIT_CEILING_DIRECTORIES',
  'BD_DOLT_AUTO_COMMIT',
]
/** What an agent that starts another one must not pass on. */
export const IDENTITY_NAMES: readonly string[] = ['SKEIN_ROLE', ...GASTOWN_NAMES]

export interface Identified {
  agent: Pick<Agent, 'address' | 'role'>
  tool: string
  cwd: string
  tmuxSession: string
  session: SessionId | undefined
}

/**
 * Who an agent is, for its program and for its tmux session: one place for both, for a start, a restart, a handoff and a conversation
 * that was cleared. None of it is a secret.
 */
export function identityVariables(
  parts: Pick<Parts, 'home'>,
  runner: Pick<ToolRunner, 'sessionVariable'>,
  roles: Roles,
  { agent, tool, cwd, tmuxSession, session }: Identified,
): IdentityVariables {
  const identity = roles.parse(agent.address) ?? (agent.role === undefined ? undefined : { role: agent.role })
  const role = identity?.role
  return {
    SKEIN_AGENT: agent.address,
    SKEIN_ROLE: role,
    SKEIN_SESSION: session,
    SKEIN_HOME: dirname(dirname(parts.home.directory)), // <root>/profiles/<profile>
    SKEIN_PROFILE: parts.home.profile,
    ...(runner.sessionVariable ? { [runner.sessionVariable]: session } : {}),
    ...(roles.preset === 'gastown' ? gastownVariables(roles, identity, { tool, cwd, tmuxSession, session }) : {}),
  }
}

function gastownVariables(
  { root }: Roles,
  identity: RoleIdentity | undefined,
  { tool, cwd, tmuxSession, session }: Omit<Identified, 'agent'>,
): IdentityVariables {
  const none = Object.fromEntries(GASTOWN_NAMES.map((name) => [name, undefined]))
  if (!identity) return none
  const { role, group, name } = identity
  const isWorker = role === 'crew' || role === 'polecat'
  const actor = actorOf(identity)
  return {
    ...none,
    GT_ROLE: role === 'boot' ? 'deacon/boot' : role === 'dog' ? 'dog' : actor,
    GT_RIG: group,
    ...(role === 'crew' ? { GT_CREW: name } : {}),
    ...(role === 'polecat' ? { GT_POLECAT: name, GT_POLECAT_PATH: cwd, BD_DOLT_AUTO_COMMIT: 'off' } : {}),
    ...(role === 'dog' ? { GT_DOG_NAME: name } : {}),
    ...(root === undefined ? {} : { GT_ROOT: root, GT_TOWN_ROOT: root, GIT_CEILING_DIRECTORIES: root }),
    GT_SESSION: tmuxSession,
    GT_SESSION_UUID: session,
    GT_AGENT: tool,
    BD_ACTOR: actor,
    GIT_AUTHOR_NAME: name ?? (role === 'boot' ? 'boot' : actor),
    ...(isWorker ? { BEADS_AGENT_NAME: `${group}/${name}` } : {}),
  }
}

/** Who did it, as beads writes it. */
function actorOf({ role, group, name }: RoleIdentity): string {
  switch (role) {
    case 'boot':
      return 'deacon-boot'
    case 'dog':
      return `deacon/dogs/${name}`
    case 'crew':
      return `${group}/crew/${name}`
    case 'polecat':
      return `${group}/polecats/${name}`
    default:
      return group === undefined ? role : `${group}/${role}`
  }
}

/** Brings the tmux session up to date after the agent has moved to another conversation. A pane that is gone has nobody to tell. */
export async function publishIdentity(parts: Parts, agent: Agent, { recipe, run, binding }: AgentRun): Promise<void> {
  if (!run) return
  const roles = await parts.home.programs.roles()
  const { tmux_session: tmuxSession } = run
  const facts = { agent, tool: recipe.tool, cwd: recipe.cwd, tmuxSession, session: binding?.session }
  const variables = identityVariables(parts, runnerOf(parts, recipe.tool), roles, facts)
  const terminal = await parts.terminals.of(run.socket).catch(() => undefined)
  await terminal?.setEnvironment(run.pane, variables).catch(() => undefined)
}
