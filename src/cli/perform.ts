import type { DaemonClient } from '../daemon/index.js'
import type { Fields, Operation, OperationContext, Values } from '../operations/index.js'
import type { Cli } from './command.js'

/** Runs an operation: in the daemon, where the operation says so and one answers, else in this process. */
export async function perform<Declared extends Fields, Result extends object>(
  operation: Operation<Declared, Result>,
  input: Values<Declared>,
  cli: Cli,
): Promise<Result> {
  const daemon = operation.where === 'daemon' ? await clientOf(cli) : undefined
  const answer = await daemon?.tryCall(operation, await elsewhere(operation, input, cli), { actor: cli.actor })
  if (!answer) return operation.run(input, contextOf(cli))
  if (OVERVIEWS.includes(operation.name) && !cli.out.json) await warnOfSettings(cli)
  return answer.result
}

/** What people look at first: there they are told of a setting that does nothing. Done here, the operation reads the settings itself. */
const OVERVIEWS: readonly string[] = ['list', 'agents.status']

/** Names settings that do nothing, for who does not read them itself. */
export async function warnOfSettings({ daemon: { configFile }, context }: Cli): Promise<void> {
  const { isThere } = await import('../disk/index.js')
  if (!isThere(configFile)) return
  const { settingsWarnings } = await import('../settings/index.js')
  for (const line of await settingsWarnings(configFile)) context.warn(line)
}

/** Loaded when it is asked for: most lists ask no daemon, and start-up is most of their time. */
export async function clientOf({ daemon, profile }: Cli): Promise<DaemonClient | undefined> {
  const { accessTo, DaemonClient } = await import('../daemon/index.js')
  const { place, userId } = accessTo(daemon, profile)
  return DaemonClient.find(place, userId)
}

/** A command's own context. */
export function contextOf(cli: Cli): OperationContext {
  const { nowMs, home, agents, profile, profiles, privacyFile } = cli
  return {
    nowMs,
    get cwd() {
      return cli.cwd
    },
    home,
    agents,
    live: {
      list: async (filter) => (await agents()).list(filter),
      next: async () => (await import('../daemon/index.js')).nextOf(await (await agents()).list()),
    },
    profiles: { ...profiles, current: profile },
    get configFile() {
      return cli.daemon.configFile
    },
    privacyFile,
    abandoned: cli.interrupted,
  }
}

/** The same input where nobody is in a directory: the agent that `.` means here is given by its id. */
async function elsewhere<Declared extends Fields>(
  { input: fields }: Operation<Declared>,
  input: Values<Declared>,
  cli: Cli,
): Promise<Values<Declared>> {
  const named: Record<string, unknown> = { ...input }
  const idOf = async (reference: unknown): Promise<unknown> =>
    reference === '.' ? (await (await cli.home()).roster.agent('.')).id : reference
  for (const [name, { kind, isRepeated }] of Object.entries(fields)) {
    if (kind?.completes !== 'agent') continue
    const given = named[name]
    named[name] = isRepeated ? await Promise.all((given as unknown[]).map(idOf)) : await idOf(given)
  }
  return named as Values<Declared>
}
