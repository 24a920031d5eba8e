import { resolve } from 'node:path'
import { readGiven, statOf } from '../../disk/index.js'
import type { RosterBook } from '../../home/index.js'
import type { StartAgent } from '../../lifecycle/index.js'
import { type Agent, SkeinError } from '../../model/index.js'
import { flag, LAUNCH, optional, present, text, usageError, type Values } from '../../operations/index.js'
import type { Cli } from '../command.js'

/** Where variables come from that are on no command line. */
export const ENV_FILE = { 'env-file': optional(text('file'), 'A file of variables, one NAME=value per line') }

const { mcp, arg, dangerous, ...facts } = LAUNCH

/** How an agent is to be started. */
export const LAUNCH_OPTIONS = { ...facts, ...ENV_FILE, mcp, arg, dangerous }

export const FORCE_START = flag('Start even if its last process may still run on another host or in another container')

export async function launchOf(
  where: string | undefined,
  given: Values<typeof LAUNCH_OPTIONS>,
  cli: Cli,
): Promise<StartAgent> {
  return launchIn(await placeOf(where, given, cli), given, cli)
}

/** The same where it is known already which agent is meant, and where. */
export function launchIn(
  { agent, cwd }: { agent?: string | undefined; cwd?: string | undefined },
  given: Values<typeof LAUNCH_OPTIONS>,
  cli: Cli,
): StartAgent {
  const { title, command, group, role, parent, account, model, work, topic, tool, mcp, arg } = given
  const env = environmentOf(given, cli)
  return {
    ...present({ agent, cwd, title, command, group, role, parent, account, model, work, topic, tool }),
    here: cli.cwd,
    ...(Object.keys(env).length > 0 ? { env } : {}),
    ...(mcp.length > 0 ? { mcp } : {}),
    ...(arg.length > 0 ? { args: arg } : {}),
    ...(given.dangerous ? { dangerous: true } : {}),
  }
}

/** Which agent, and where: a word may name an agent or a directory, and says so when it names both. */
async function placeOf(
  where: string | undefined,
  given: Pick<Values<typeof LAUNCH_OPTIONS>, 'agent' | 'group'>,
  cli: Cli,
): Promise<{ agent?: string | undefined; cwd?: string | undefined }> {
  const { roster } = await cli.home()
  if (given.agent !== undefined) {
    if (where !== undefined) return { agent: given.agent, cwd: resolve(cli.cwd, where) }
    return { agent: given.agent }
  }
  if (where === undefined) return {}
  const directory = resolve(cli.cwd, where)
  if (/^(\.|\.\.|\/.*|\.\.?\/.*)$/.test(where)) return { cwd: directory }
  const isDirectory = statOf(directory)?.isDirectory() === true
  const named = await agentNamed(where, given.group, isDirectory, roster)
  if (!named) return { cwd: directory }
  if (!isDirectory || named.project_path === directory) return { agent: named.address }
  throw usageError(
    `${where} is both a directory here and the agent ${named.address}`,
    `The agent: skein start --agent ${named.address} . Another one in the directory: skein start ./${where}`,
  )
}

/** The agent that a word means, in the group that was asked for. */
async function agentNamed(
  word: string,
  group: string | undefined,
  isDirectory: boolean,
  roster: RosterBook,
): Promise<Agent | undefined> {
  const within = (agent: Agent): boolean => group === undefined || agent.group_path === group
  const exact = (await roster.agents()).find(({ address }) => group !== undefined && address === `${group}/${word}`)
  if (exact) return exact
  try {
    const agent = await roster.agent(word)
    if (within(agent) || isDirectory) return within(agent) ? agent : undefined
    throw usageError(
      `The agent ${agent.address} is not in the group ${group}`,
      'Leave out --group, or name a directory',
    )
  } catch (error) {
    if (
      error instanceof SkeinError &&
      (error.code === 'agent-not-found' || (error.code === 'ambiguous-id' && isDirectory))
    )
      return undefined
    throw error
  }
}

export function environmentOf(
  given: Pick<Values<typeof LAUNCH_OPTIONS>, 'env' | 'env-file'>,
  cli: Cli,
): Record<string, string> {
  const env: Record<string, string> = {}
  for (const line of fileLines(given['env-file'], cli)) assign(env, line, cli)
  for (const one of given.env) assign(env, one, cli)
  return env
}

const MOST_BYTES = 1024 * 1024

function fileLines(file: string | undefined, { cwd }: Cli): string[] {
  if (file === undefined) return []
  try {
    const lines = readGiven(resolve(cwd, file), MOST_BYTES).toString('utf8').split('\n')
    return lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'))
  } catch (error) {
    throw new SkeinError('bad-input', `${file} cannot be read: ${(error as Error).message}`, 'Name another file')
  }
}

/** The value is never in a message: it may be a secret. */
function assign(env: Record<string, string>, given: string, { daemon }: Cli): void {
  const [, name = '', value] = /^([A-Za-z_]\w*)(?:=([\s\S]*))?$/.exec(given) ?? []
  if (name === '') throw usageError('--env takes NAME=value or NAME', 'A name has letters, digits and "_"')
  const known = value ?? (Object.hasOwn(daemon.env, name) ? daemon.env[name] : undefined)
  if (known === undefined) throw usageError(`${name} is not set in your environment`, `Give it: --env ${name}=<value>`)
  env[name] = known
}
