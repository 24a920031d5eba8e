import { join } from 'node:path'
import { makeDirectory, writeAtomic } from '../../disk/index.js'
import { instantOf } from '../../model/index.js'
import { agentRef, required } from '../../operations/index.js'
import { redact } from '../../privacy/index.js'
import { command } from '../command.js'
import { safe } from '../screen/safe-text.js'

export const doctor = command({
  name: 'doctor',
  summary: 'Record a screen that Skein cannot read',
  description:
    'Writes the screen of an agent to a file under the home, with secrets taken out, and says how it was read. skein tool test reads such a file with the rules of a tool. Look at it before you send it with a report: of a secret that the screen breaks over lines, the rest may be left.',
  examples: [['skein doctor --record web/demo', 'Record what it shows now']],
  args: {},
  options: { record: required(agentRef, 'The agent whose screen is recorded') },
  async run({ record }, { agents, home, out, nowMs }) {
    const { agent, tool, width, title, lines, reading } = await (await agents()).record(record)
    const directory = join((await home()).directory, 'recordings')
    makeDirectory(directory)
    const stamp = instantOf(nowMs)
      .replace(/[-:]/g, '')
      .replace(/\.\d+Z$/, 'Z')
    const file = join(directory, `${tool}-${stamp}.txt`)
    const screen = redact(lines.join('\n').trimEnd()).text
    writeAtomic(file, `${screen}\n`, { durable: false })
    const document = { agent, file, tool, width, title: redact(title).text, reading }
    out.result(document, () => {
      const how = reading.rule ? `${reading.status} by ${reading.rule}` : 'no rule knows it'
      return safe`Recorded the screen of ${agent.address} in ${file}: ${how}. Try rules on it: skein tool test ${tool} --pane ${file}`
    })
  },
})
