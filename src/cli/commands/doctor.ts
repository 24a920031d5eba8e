import { agentRef, agentsRecord, required } from '../../operations/index.js'
import { operationCommand } from '../operation-command.js'
import { safe } from '../screen/safe-text.js'

export const doctor = operationCommand(agentsRecord, {
  name: 'doctor',
  summary: 'Record a screen that Skein cannot read',
  description:
    'Writes the screen of an agent to a file under the home, with secrets taken out, and says how it was read. skein tool test reads such a file with the rules of a tool. Look at it before you send it with a report: of a secret that the screen breaks over lines, the rest may be left.',
  examples: [['skein doctor --record web/demo', 'Record what it shows now']],
  fields: { agent: undefined },
  own: { record: required(agentRef, 'The agent whose screen is recorded') },
  prepare: ({ record }) => ({ agent: record }),
  view({ agent, tool, file, reading }) {
    const how = reading.rule ? `${reading.status} by ${reading.rule}` : 'no rule knows it'
    return safe`Recorded the screen of ${agent.address} in ${file}: ${how}. Try rules on it: skein tool test ${tool} --pane ${file}`
  },
})
