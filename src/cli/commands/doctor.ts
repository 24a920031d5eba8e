import { diskWarning } from '../../home/index.js'
import { SkeinError } from '../../model/index.js'
import { agentRef, agentsRecord, indexCheck, optional, snapshotsStats } from '../../operations/index.js'
import type { Cli } from '../command.js'
import { operationCommand } from '../operation-command.js'
import { perform, warnOfSettings } from '../perform.js'
import { safe } from '../screen/safe-text.js'
import { showIndexCheck } from '../views/index-check-view.js'

/** Undefined without git: there are no snapshots then, or nobody can count them. */
async function usedBySnapshots(cli: Cli): Promise<{ bytes: number; max_bytes: number } | undefined> {
  try {
    return await perform(snapshotsStats, {}, cli)
  } catch (error) {
    if (error instanceof SkeinError && error.code === 'git-missing') return undefined
    throw error
  }
}

export const doctor = operationCommand(agentsRecord, {
  name: 'doctor',
  summary: 'Check the home, or record a screen that Skein cannot read',
  description:
    "Alone it checks the home as skein index check does, and names files that a newer Skein wrote and settings of config.toml that do not exist. With --record it writes an agent's screen to a file under the home, with secrets redacted, and reports how it was read. skein tool test applies a tool's rules to such a file. Check the file before you attach it to a report: part of a secret that the screen wraps over lines may remain.",
  examples: [
    ['skein doctor', 'Check journal, index and files'],
    ['skein doctor --record web/demo', 'Record what it shows now'],
  ],
  fields: { agent: undefined },
  own: { record: optional(agentRef, 'The agent whose screen is recorded') },
  async instead({ record }, cli) {
    if (record !== undefined) return false
    const checked = await perform(indexCheck, {}, cli)
    if (!checked.ok) cli.out.fails()
    if (cli.out.json) cli.out.result(checked, () => '')
    else {
      showIndexCheck(checked, cli.out)
      await warnOfSettings(cli)
      const used = await usedBySnapshots(cli)
      const warning = used && diskWarning(used)
      if (warning !== undefined) cli.out.note(warning)
    }
    return true
  },
  prepare: ({ record }) => ({ agent: record ?? '' }),
  view({ agent, tool, file, reading }) {
    const how = reading.rule ? `${reading.status} by ${reading.rule}` : 'no rule matches it'
    return safe`Recorded the screen of ${agent.address} in ${file}: ${how}. Test rules on it: skein tool test ${tool} --pane ${file}`
  },
})
