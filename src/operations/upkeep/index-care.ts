import { operation } from '../operation.js'

export const indexRebuild = operation({
  name: 'index.rebuild',
  does: 'acts',
  where: 'either',
  isHeavy: true,
  summary: 'Rebuild the index from the journal and the logs',
  description:
    'The index comes from the journal; turns, tool calls and the text for search come from the logs, and from the archive where a tool has deleted its log. All of them are derived, so nothing is lost.',
  input: {},
  result: 'rebuild-report',
  run: async (_, { home }) => (await home()).index.rebuild(),
})

export const indexCheck = operation({
  name: 'index.check',
  does: 'reads',
  where: 'either',
  isHeavy: true,
  summary: 'Compare the index with the journal',
  description: 'Exits with 1 if they differ.',
  input: {},
  result: 'index-check',
  run: async (_, { home }) => (await home()).index.check(),
})
