import { recordedScreen } from '../../tools/index.js'
import { required } from '../field.js'
import { freeText, text } from '../kind.js'
import { operation } from '../operation.js'
import { configOf, type ProgramRow, programRow, readingDocument, rulesDocument } from './program-documents.js'

const TOOL = required(text('tool'), 'Its name')

export const toolList = operation({
  name: 'tool.list',
  does: 'reads',
  where: 'either',
  summary: 'List the agent programs that can be run',
  description: 'Describe your own tools in config.toml, as [tools.<name>].',
  input: {},
  result: 'tools',
  async run(_, { home }): Promise<{ tools: ProgramRow[] }> {
    const { programs } = await home()
    const [runners, environment] = await Promise.all([programs.runners(), programs.environment()])
    return { tools: runners.all.map((runner) => programRow(runner, runners, environment)) }
  },
})

export interface ProgramDetail extends ProgramRow {
  config?: ReturnType<typeof configOf>
  screen: ReturnType<typeof rulesDocument>
}

export const toolShow = operation({
  name: 'tool.show',
  does: 'reads',
  where: 'either',
  summary: 'Show how a tool is run and how its screen is read',
  description:
    'Replace the rules for its screen with your own file: patterns/<tool>.toml or .json beside config.toml. Values of variables are never shown.',
  input: { tool: TOOL },
  result: 'tool-detail',
  async run({ tool }, { home }): Promise<ProgramDetail> {
    const { programs } = await home()
    const [runners, environment] = await Promise.all([programs.runners(), programs.environment()])
    const row = programRow(runners.named(tool), runners, environment)
    const own = runners.definitionOf(tool)
    return { ...row, ...(own ? { config: configOf(own) } : {}), screen: rulesDocument(runners.rulesOf(tool)) }
  },
})

export type ReadingDocument = ReturnType<typeof readingDocument>

export const toolTest = operation({
  name: 'tool.test',
  does: 'reads',
  where: 'either',
  summary: 'Show how a recorded screen is read',
  description: 'Fails if no rule matches the screen.',
  input: { tool: TOOL, screen: required(freeText('text'), 'The recorded screen') },
  result: 'screen-reading',
  async run({ tool, screen }, { home }): Promise<ReadingDocument> {
    const runners = await (await home()).programs.runners()
    return readingDocument(tool, runners.named(tool).readScreen(recordedScreen(screen)), runners.rulesOf(tool))
  },
})
