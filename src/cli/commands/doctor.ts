import { agentRef, agentsRecord, required } from '../../operations/index.js'
import { operationCommand } from '../operation-command.js'
import { safe } from '../screen/safe-text.js'

export const doctor = operationCommand(agentsRecord, {
  name: 'doctor',
  summary: 'Record a screen that Skein cannot read',
  description:
    "Writes an agent's screen to a file under the home, with secrets redacted, and reports how it was read. skein tool test applies a tool's rules to such a file. Check the file before you attach it to a report: part of a secret that the screen wraps over lines may remain.",
  examples: [['skein doctor --record web/demo', 'Record what it shows now']],
  fields: { agent: undefined },
  own: { record: required(agentRef, 'The agent whose screen is recorded') },
  prepare: ({ record }) => ({ agent: record }),
  view({ agent, tool, file, reading }) {
    const how = reading.rule ? `${reading.status} by ${reading.rule}` : 'no rule matches it'
    return safe`Recorded the screen of ${agent.address} in ${file}: ${how}. Test rules on it: skein tool test ${tool} --pane ${file}`
  },
})
