import { join } from 'node:path'
import { makeDirectory, writeAtomic } from '../../disk/index.js'
import { instantOf } from '../../model/index.js'
import { redact } from '../../privacy/index.js'
import { operation } from '../operation.js'
import { AGENT } from './agent-fields.js'

export const agentsRecord = operation({
  name: 'agents.record',
  does: 'acts',
  where: 'either',
  summary: 'Record the screen of an agent',
  description: 'Writes it to a file under the home, with secrets redacted, and reports how it was read.',
  input: { agent: AGENT },
  result: 'recording',
  async run({ agent: reference }, { agents, home, nowMs }) {
    const { agent, tool, width, title, lines, reading } = await (await agents()).record(reference)
    const directory = join((await home()).directory, 'recordings')
    makeDirectory(directory)
    const stamp = instantOf(nowMs)
      .replace(/[-:]/g, '')
      .replace(/\.\d+Z$/, 'Z')
    const file = join(directory, `${tool}-${stamp}.txt`)
    const screen = redact(lines.join('\n').trimEnd()).text
    writeAtomic(file, `${screen}\n`, { durable: false })
    return { agent, file, tool, width, title: redact(title).text, reading }
  },
})
