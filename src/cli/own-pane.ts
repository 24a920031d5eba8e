import { join } from 'node:path'
import type { Cli } from './command.js'
import { clientOf } from './perform.js'

/**
 * Whether a command that ends an agent is typed inside that agent, with no daemon to carry it out: then it has to be carried out by a
 * process that the end of the agent does not reach.
 */
export async function mustDetach(agent: string, cli: Cli): Promise<boolean> {
  if (cli.currentAgent === undefined) return false
  const { roster } = await cli.home()
  const [own, meant] = await Promise.all(
    [cli.currentAgent, agent].map((name) => roster.agent(name).catch(() => undefined)),
  )
  return own !== undefined && meant?.id === own.id && (await clientOf(cli)) === undefined
}

/** Carries a command out beside this process, and says where its output goes. */
export async function detached(args: readonly string[], input: string, cli: Cli): Promise<void> {
  const log = join((await cli.home()).paths.agents, 'detached.log')
  await cli.detach(['--profile', cli.profile, ...args], { input, log })
  cli.out.result({ detached: true, log }, () => `This continues outside of the agent, which is ended. Output: ${log}`)
}
