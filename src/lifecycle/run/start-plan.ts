import { basename } from 'node:path'
import { refuseDeadDirectory, statOf } from '../../disk/index.js'
import {
  type Agent,
  parseAddress,
  type Role,
  type Roles,
  type SessionId,
  SkeinError,
  splitAddress,
  TOPICS,
} from '../../model/index.js'
import { commandWords, toolOfCommand } from '../../tools/index.js'
import type { AgentRun, Recipe } from '../agent-run.js'
import type { StartAgent, StartNow } from '../agents.js'
import { type Parts, runnerOf } from '../parts.js'
import { accountOf } from './account.js'
import { checkGivenEnv } from './given-env.js'
import { planResume, type ResumePlan } from './resume-plan.js'
import { planRole } from './role-plan.js'

/** What a start is going to do, checked as far as it can be. Making a plan changes nothing. */
export interface StartPlan {
  address: string
  /** The agent of that address, if there is one already. */
  known: Agent | undefined
  /** For the roster: of a known agent, what is different now. */
  facts: { title?: string; role?: string; command?: string; loaded_mcp_names?: string[] }
  /** For a new agent. */
  parent: string | undefined
  recipe: Recipe
  /** Variables that were given now; undefined leaves those that it has. */
  env: Readonly<Record<string, string>> | undefined
  /** What its role says. */
  role: Role | undefined
  roles: Roles
  topic: string | undefined
  /** The session that was asked for; undefined goes on with the one that the agent has. */
  resume?: SessionId
}

/** The agent that is meant, or is to be made, and how it will be started. Refuses what cannot be. */
export async function planStart(parts: Parts, { resume, ...given }: StartNow): Promise<StartPlan> {
  const agents = await parts.home.roster.agents()
  const resumed = resume === undefined ? undefined : await planResume(parts, resume, given)
  const agent = given.agent ?? resumed?.holder?.address
  const { roles, role, names, options } = planRole(
    await parts.home.programs.roles(),
    agents,
    resumed ? { ...given, ...resumedOptions(resumed), ...(agent ? { agent } : {}) } : given,
  )
  const address = addressFor(agents, options)
  if (resumed?.holder && resumed.holder.address !== address) throw ofAnother(resumed.session, resumed.holder)
  const known = agents.find((agent) => agent.address === address)
  const tool = toolFor(parts, known, options, role)
  const current = known && (await parts.runs.read(known.id))
  const before = current && recipeOfTool(current, tool)
  const placed = known ? undefined : (names?.cwd ?? options.here)
  const cwd = options.cwd ?? before?.recipe.cwd ?? known?.project_path ?? placed
  if (cwd === undefined) throw noPlace(address)
  refuseNoDirectory(cwd)
  checkGivenEnv(options.env ?? {})
  checkTopic(options.topic)
  const account = options.account ?? before?.recipe.account
  if (account !== undefined) accountOf(parts.environment, runnerOf(parts, tool), account)
  const isAsBefore = before !== undefined && !isTold(options)
  const { title, command, mcp, env } = options
  return {
    address,
    known,
    facts: {
      ...(title ? { title } : {}),
      ...(options.role && options.role !== known?.role ? { role: options.role } : {}),
      ...(command ? { command } : {}),
      ...(mcp ? { loaded_mcp_names: [...mcp] } : {}),
    },
    parent: known ? undefined : await spawnerOf(parts, agents, options),
    recipe: isAsBefore ? { ...before.recipe, cwd } : recipeFor(tool, { ...ofRole(role, tool), ...options }, cwd),
    role,
    roles,
    topic: options.topic,
    env: env && Object.keys(env).length > 0 ? env : undefined,
    ...(resumed ? { resume: resumed.session } : {}),
  }
}

/**
 * How an agent was last run with a tool, and its conversation there. A conversation never crosses to another tool: what belongs to the
 * one is kept while the agent runs the other.
 */
export function recipeOfTool(run: AgentRun, tool: string): Pick<AgentRun, 'recipe' | 'binding' | 'other_tools'> {
  const { recipe, binding, other_tools: others = {} } = run
  if (recipe.tool === tool) return { recipe, ...(binding ? { binding } : {}), other_tools: others }
  const { [tool]: kept, ...rest } = others
  const { cwd, work, env_names } = recipe
  const facts = { ...(work ? { work } : {}), ...(env_names ? { env_names } : {}) }
  return {
    recipe: { ...(kept?.recipe ?? {}), ...facts, tool, cwd },
    ...(kept?.binding ? { binding: kept.binding } : {}),
    other_tools: { ...rest, [recipe.tool]: { recipe, ...(binding ? { binding } : {}) } },
  }
}

export function refuseNoDirectory(cwd: string, next = 'Create it, or start the agent in another one'): void {
  refuseDeadDirectory(cwd)
  const found = statOf(cwd)
  if (found?.isDirectory()) return
  const what = found ? `${cwd} is not a directory` : `There is no directory ${cwd}`
  throw new SkeinError('bad-input', what, next)
}

/** As given, or made up from the directory: `web`, `web-2`, … */
function addressFor(agents: readonly Agent[], { agent, group, here = 'agent', cwd = here }: StartAgent): string {
  const prefix = group ? `${group}/` : ''
  if (agent !== undefined) {
    const address = parseAddress(agent.includes('/') || !group ? agent : prefix + agent)
    if (!group || splitAddress(address).group === group) return address
    const next = 'Leave out --group, or give the name alone'
    throw new SkeinError('bad-input', `${agent} is not in the group ${group}`, next)
  }
  const name = basename(cwd)
    .normalize('NFC')
    .replace(/[^\p{L}\p{M}\p{N}._-]+/gu, '-')
    .replace(/^[^\p{L}\p{N}_]+/u, '')
    .slice(0, 48)
  const taken = new Set<string>(agents.map(({ address }) => address))
  for (let n = 1; ; n += 1) {
    const address = `${prefix}${name || 'agent'}${n === 1 ? '' : `-${n}`}`
    if (!taken.has(address)) return address
  }
}

/** An agent's tool is changed on purpose only: a start that names another one is more likely to mean another agent. */
function toolFor(parts: Parts, known: Agent | undefined, options: StartAgent, role: Role | undefined): string {
  const tool = options.tool ?? known?.tool ?? toolByCommand(parts, options.command) ?? role?.tool ?? parts.defaultTool
  runnerOf(parts, tool)
  if (!known || known.tool === tool) return tool
  const { address } = known
  const next = `Name a new agent: --agent <name> . To change this one: skein agents set ${address} --tool ${tool}`
  throw new SkeinError('agent-exists', `The agent ${address} runs ${known.tool}, not ${tool}`, next)
}

/** The tool that the agent's own command runs; a program that is none of them is a `custom` one. */
function toolByCommand({ runners }: Parts, command: string | undefined): string | undefined {
  if (command === undefined) return undefined
  return (
    toolOfCommand(
      commandWords(command),
      runners.map(({ name }) => name),
    ) ?? 'custom'
  )
}

/** The agent from which the command was typed, by the mark of its run: names change, and another home has agents of the same name. */
async function spawnerOf(
  { runs, home, environment }: Parts,
  agents: readonly Agent[],
  { parent }: StartAgent,
): Promise<string | undefined> {
  if (parent !== undefined) return (await home.roster.agent(parent)).id
  const { SKEIN_RUN: run } = environment.env
  if (!run) return undefined
  const id = (await runs.all()).find((one) => one.run?.id === run)?.agent
  return agents.some((agent) => agent.id === id) ? id : undefined
}

/** Its model and arguments are those of the role's own tool. */
function ofRole(role: Role | undefined, tool: string): Pick<StartAgent, 'model' | 'args' | 'dangerous'> {
  if (!role) return {}
  const isItsTool = role.tool === undefined || role.tool === tool
  return {
    ...(isItsTool && role.model !== undefined ? { model: role.model } : {}),
    ...(isItsTool && role.args ? { args: role.args } : {}),
    ...(role.dangerous ? { dangerous: true } : {}),
  }
}

function checkTopic(topic: string | undefined): void {
  if (topic === undefined || /^[a-z][a-z0-9-]{0,63}$/.test(topic)) return
  const next = `Use a word such as ${TOPICS.join(', ')}`
  throw new SkeinError('bad-input', `${JSON.stringify(topic.slice(0, 80))} is not a topic`, next)
}

/** Whether anything was said about how to start: an agent that exists is otherwise started as it was before. */
const isTold = (options: StartAgent): boolean =>
  [options.model, options.env, options.mcp, options.args, options.dangerous, options.work, options.account].some(
    (given) => given !== undefined,
  )

function recipeFor(tool: string, options: StartAgent, cwd: string): Recipe {
  const { model, args, mcp, dangerous, work, account } = options
  const names = Object.keys(options.env ?? {})
  return {
    tool,
    cwd,
    ...(model ? { model } : {}),
    ...(args && args.length > 0 ? { args: [...args] } : {}),
    ...(mcp && mcp.length > 0 ? { mcp: [...mcp] } : {}),
    ...(dangerous ? { dangerous } : {}),
    ...(work ? { work } : {}),
    ...(account ? { account } : {}),
    ...(names.length > 0 ? { env_names: names } : {}),
  }
}

const ofAnother = (session: SessionId, { address }: Agent): SkeinError =>
  new SkeinError(
    'agent-exists',
    `Session ${session} is the conversation of ${address}`,
    `Start that agent: skein start --agent ${address}`,
  )

const noPlace = (address: string): SkeinError =>
  new SkeinError(
    'bad-input',
    `No directory is known for ${address}`,
    `Name one: skein start <directory> --agent ${address}`,
  )

const resumedOptions = ({ tool, cwd, account }: ResumePlan): Pick<StartAgent, 'tool' | 'cwd' | 'account'> => ({
  tool,
  cwd,
  ...(account === undefined ? {} : { account }),
})
