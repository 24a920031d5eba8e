import { diskWarning, readUpkeepNote } from '../../home/index.js'
import { agentRef, agentsRecord, indexCheck, optional } from '../../operations/index.js'
import { operationCommand } from '../operation-command.js'
import { perform, warnOfSettings } from '../perform.js'
import { safe } from '../screen/safe-text.js'
import { showIndexCheck } from '../views/index-check-view.js'

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
      const note = readUpkeepNote((await cli.home()).paths.snapshots)
      const warning = note && diskWarning(note)
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
