import { accessTo, stopDaemon } from '../../../daemon/index.js'
import { SkeinError } from '../../../model/index.js'
import { flag, required, text, usageError } from '../../../operations/index.js'
import { type Cli, command } from '../../command.js'
import { safe } from '../../screen/safe-text.js'

export const deleteProfile = command({
  name: 'profile delete',
  summary: 'Delete a profile and all it holds',
  description: 'Deletes its agents, sessions and journal for good, so it needs --yes. Refused while its agents run.',
  examples: [['skein profile delete play --yes', 'Delete a profile and everything in it']],
  args: { name: required(text('name', 'profile'), 'Its name') },
  options: { yes: flag('Yes, delete everything in it'), stop: flag('Stop its agents first') },
  async run({ name, yes, stop }, cli) {
    const { out, profiles } = cli
    if (!yes) {
      throw usageError(
        `Deleting profile ${JSON.stringify(name)} deletes everything in it`,
        `To confirm: skein profile delete ${name} --yes`,
      )
    }
    const isThere = (await profiles.list()).some((profile) => profile.name === name)
    if (isThere) {
      await endAgents(name, stop, cli)
      await stopDaemon(accessTo(cli.daemon, name))
    }
    await profiles.remove(name)
    out.result({ deleted: name }, () => safe`Deleted profile ${name}`)
  },
})

/** An agent whose profile is gone would run on, and nobody could stop it. */
async function endAgents(name: string, stop: boolean, cli: Cli): Promise<void> {
  await using home = await cli.profiles.open(name)
  await using agents = await cli.agentsOf(home)
  const running = await agents.running()
  if (stop) for (const { id } of running) await agents.stop(id)
  const [first] = running
  if (stop || !first) return
  const all = running.map(({ address }) => address)
  const some = all.length > 5 ? `${all.slice(0, 5).join(', ')} and ${all.length - 5} more` : all.join(', ')
  throw new SkeinError(
    'agent-running',
    `Agents of profile ${name} run: ${some}`,
    `Stop them first: skein profile delete ${name} --yes --stop`,
  )
}
