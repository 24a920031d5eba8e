import { isAbsolute, join } from 'node:path'
import { guardedText, realPath } from '../../disk/index.js'
import type { Home } from '../../home/index.js'
import { type Agent, type Role, type RoleIdentity, type Roles, SkeinError } from '../../model/index.js'
import type { PrimeRequest } from './prime.js'

/** What an agent is told of its role. */
export interface PrimedRole {
  readonly name: string
  readonly context?: string
  readonly instructions?: string
}

const CONTEXT_BYTES = 256 * 1024

/** The agent that a run or SKEIN_AGENT names, else the one whose directory this is; and its role. */
export async function whoIs(
  home: Home,
  { agent: named, cwd }: Pick<PrimeRequest, 'agent' | 'cwd'>,
  reasons: string[],
  notes: string[],
): Promise<{ agent?: Agent; role?: PrimedRole }> {
  const roles = await noted(home.programs.roles(), notes)
  const here = roles && addressOf(roles, cwd)
  const agent = await agentOf(home, named ?? here?.address, named === undefined, reasons, notes)
  if (agent && here && here.address !== agent.address) {
    notes.push(
      `SKEIN_AGENT names ${agent.address}, but this is the directory of ${here.address}. You are ${agent.address}.`,
    )
  }
  const name = agent?.role ?? (agent && here?.address === agent.address ? here.role : undefined)
  const role = name === undefined ? undefined : await roleOf(home, name, roles?.find(name), cwd, notes)
  return { ...(agent ? { agent } : {}), ...(role ? { role } : {}) }
}

async function agentOf(
  home: Home,
  reference: string | undefined,
  isByDirectory: boolean,
  reasons: string[],
  notes: string[],
): Promise<Agent | undefined> {
  if (reference === undefined) {
    reasons.push('no agent: neither a run, nor SKEIN_AGENT, nor the directory names one')
    return undefined
  }
  if (isByDirectory) reasons.push(`agent ${reference}: its role works in this directory`)
  return noted(home.roster.agent(reference), notes)
}

/** Whose working directory this is, as the roles have it. The system may name it by another path than the user does. */
function addressOf(roles: Roles, cwd: string): { address: string; role: string } | undefined {
  for (const directory of new Set([cwd, realPath(cwd)])) {
    const identity = roles.ofDirectory(directory)
    const address = identity && namedAs(roles, identity)
    if (address) return { address, role: identity.role }
  }
  return undefined
}

/** A directory may look like that of an agent which cannot have this name. */
function namedAs(roles: Roles, identity: RoleIdentity): string | undefined {
  try {
    return roles.format(identity).address
  } catch (error) {
    if (!(error instanceof SkeinError)) throw error
    return undefined
  }
}

async function roleOf(
  home: Home,
  name: string,
  role: Role | undefined,
  cwd: string,
  notes: string[],
): Promise<PrimedRole> {
  const { context, instructions } = role ?? {}
  const isFile = context !== undefined && /^(\/|~\/|\.\/)[^\n]*$/.test(context)
  const told = isFile ? await fileText(home, context, cwd, notes) : context
  return { name, ...(told ? { context: told } : {}), ...(instructions ? { instructions } : {}) }
}

/** `./` is the agent's working directory. */
async function fileText(home: Home, file: string, cwd: string, notes: string[]): Promise<string | undefined> {
  const base = file.startsWith('~/') ? (await home.programs.environment()).home : cwd
  const path = isAbsolute(file) ? file : join(base, file.replace(/^~\//, ''))
  const text = guardedText(path, CONTEXT_BYTES)
  if (text === undefined) notes.push(`The context of your role could not be read from ${path}.`)
  return text
}

/** What a user can cause is told to the agent, and the rest goes on. */
async function noted<T>(asked: Promise<T>, notes: string[]): Promise<T | undefined> {
  try {
    return await asked
  } catch (error) {
    if (!(error instanceof SkeinError)) throw error
    notes.push(`${error.message}.`)
    return undefined
  }
}
