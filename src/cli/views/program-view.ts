import type { ProgramDetail, ProgramRow, ReadingDocument } from '../../operations/index.js'
import { card, type Fact } from '../screen/card.js'
import { safeText } from '../screen/safe-text.js'
import type { Screen } from '../screen/screen.js'
import { table } from '../screen/table.js'

const ABILITY_WORDS: readonly (readonly [ability: string, word: string])[] = [
  ['resume', 'resumes'],
  ['fork', 'forks'],
  ['tells', 'reports'],
  ['asks', 'asks'],
  ['chooses_model', 'models'],
  ['mcp', 'MCP'],
]

const abilityWords = ({ can }: ProgramRow): string =>
  ABILITY_WORDS.flatMap(([ability, word]) => (can[ability] ? [word] : [])).join(', ')

export function programTable(rows: readonly ProgramRow[], screen: Screen): string {
  return table(
    rows,
    [
      { header: '', text: (row) => row.icon },
      { header: 'TOOL', text: (row) => row.name },
      { header: 'INSTALLED', text: (row) => (row.is_installed ? (row.version ?? 'yes') : 'no') },
      { header: 'COMMAND', text: (row) => row.path ?? row.command.join(' '), shrinkTo: 12 },
      { header: 'CAN', text: abilityWords, shrinkTo: 20 },
    ],
    screen,
  )
}

export function programCard(tool: ProgramDetail, screen: Screen): string {
  const { screen: rules, config = {} } = tool
  const shown = (value: unknown): string => (Array.isArray(value) ? value.join(', ') : String(value))
  const own = Object.entries(config).filter(([key]) => key !== 'command' && key !== 'icon')
  const facts: Fact[] = [
    ['tool', tool.name],
    ['icon', tool.icon],
    ['command', tool.command.join(' ')],
    ['installed', tool.is_installed ? (tool.path ?? 'yes') : 'no'],
    ['version', tool.version],
    ['can', abilityWords(tool)],
    ['chooses ids', String(tool.can.choose_id)],
    ...own.map(([key, value]): Fact => [key, shown(value)]),
    ['rules', `version ${rules.version}, ${rules.source}`],
    ['recorded from', rules.recorded_from.join(', ')],
  ]
  const list = table(
    [...rules.rules, ...rules.titles.map((rule) => ({ ...rule, region: 'title' }))],
    [
      { header: 'RULE', text: (rule) => rule.id },
      { header: 'SAYS', text: (rule) => [rule.status, rule.waiting_for ?? rule.trouble].filter(Boolean).join(' ') },
      { header: 'WHERE', text: (rule) => rule.region },
      { header: 'LOOKS FOR', text: (rule) => rule.match.join('  &  '), shrinkTo: 20 },
    ],
    screen,
  )
  return `${card(facts, screen)}\n\n${list}`
}

export function readingCard(reading: ReadingDocument, screen: Screen): string {
  const { dialog } = reading
  const facts = card(
    [
      ['tool', reading.tool],
      ['status', reading.status],
      ['rule', reading.rule ?? 'none: no rule matches this screen'],
      ['rules', reading.rules_source],
      ['reason', reading.rule ? reading.reason : undefined],
      ['waits for', reading.waiting_for],
      ['trouble', reading.trouble],
      ['draft', reading.draft],
      ['dialog', dialog?.kind],
      ['question', dialog?.question],
    ],
    screen,
  )
  const options = dialog?.options.map(
    (option) => `  ${option.is_selected ? '>' : ' '} ${safeText(option.label)}  ${screen.paint.dim(option.meaning)}`,
  )
  return [facts, ...(options ?? [])].join('\n')
}
