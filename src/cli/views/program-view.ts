import {
  type CustomTool,
  type Environment,
  findProgram,
  type RunAbilities,
  type Runners,
  type ScreenReading,
  type ScreenRules,
  type ToolRunner,
} from '../../tools/index.js'
import { card, type Fact } from '../screen/card.js'
import { safeText } from '../screen/safe-text.js'
import type { Screen } from '../screen/screen.js'
import { table } from '../screen/table.js'

/** A tool that can be run, as `skein tool list` tells it. */
export interface ProgramRow {
  name: string
  icon: string
  command: readonly string[]
  /** Skein knows it without being told. */
  is_built_in: boolean
  is_installed: boolean
  path?: string
  version?: string
  compatible_with?: string
  can: Record<string, string | boolean>
}

export function programRow(runner: ToolRunner, runners: Runners, environment: Environment): ProgramRow {
  const own = runners.definitionOf(runner.name)
  const command = own?.command ?? [runner.name]
  const program = findProgram(command[0] ?? runner.name, environment)
  return {
    name: runner.name,
    icon: runner.icon,
    command,
    is_built_in: own === undefined || own.compatible_with === runner.name,
    is_installed: program !== undefined,
    ...program,
    ...(own?.compatible_with && own.compatible_with !== runner.name ? { compatible_with: own.compatible_with } : {}),
    can: abilitiesOf(runner.can),
  }
}

function abilitiesOf({ chooseId, choosesModel, ...rest }: RunAbilities): Record<string, string | boolean> {
  return { choose_id: chooseId, ...rest, chooses_model: choosesModel }
}

const ABILITY_WORDS: readonly (readonly [keyof RunAbilities, string])[] = [
  ['resume', 'resumes'],
  ['fork', 'forks'],
  ['tells', 'tells'],
  ['asks', 'asks'],
  ['choosesModel', 'models'],
  ['mcp', 'MCP'],
]

const abilityWords = (can: RunAbilities): string =>
  ABILITY_WORDS.flatMap(([key, word]) => (can[key] ? [word] : [])).join(', ')

export function programTable(rows: readonly (ProgramRow & { abilities: RunAbilities })[], screen: Screen): string {
  return table(
    rows,
    [
      { header: '', text: (row) => row.icon },
      { header: 'TOOL', text: (row) => row.name },
      { header: 'INSTALLED', text: (row) => (row.is_installed ? (row.version ?? 'yes') : 'no') },
      { header: 'COMMAND', text: (row) => row.path ?? row.command.join(' '), shrinkTo: 12 },
      { header: 'CAN', text: (row) => abilityWords(row.abilities), shrinkTo: 20 },
    ],
    screen,
  )
}

/** The configuration of a tool, every key; values of variables are not shown. */
export function configOf(tool: CustomTool): Record<string, unknown> {
  const { name: _name, env, ...rest } = tool
  const written = (patterns: CustomTool['busy_patterns']): string[] => patterns.map((pattern) => pattern.written)
  return {
    ...rest,
    busy_patterns: written(tool.busy_patterns),
    prompt_patterns: written(tool.prompt_patterns),
    idle_patterns: written(tool.idle_patterns),
    detect_patterns: written(tool.detect_patterns),
    env: Object.keys(env),
  }
}

/** Rules as `--json` prints them: patterns as they are written. */
export function rulesDocument({ version, recorded_from, source, rules, titles }: ScreenRules): object {
  return {
    version,
    recorded_from,
    source,
    rules: rules.map(
      ({ lines: _lines, has_input: _hasInput, is_new: _isNew, not: _not, dialog, keys: _keys, match, ...rule }) => ({
        ...rule,
        match: match.map((pattern) => pattern.source),
        ...(dialog ? { dialog: dialog.kind } : {}),
      }),
    ),
    titles: titles.map(({ match, ...rule }) => ({ ...rule, match: [match.source] })),
  }
}

export function programCard(
  row: ProgramRow,
  abilities: RunAbilities,
  own: CustomTool | undefined,
  rules: ScreenRules,
  screen: Screen,
): string {
  const config = own ? Object.entries(configOf(own)) : []
  const shown = (value: unknown): string => (Array.isArray(value) ? value.join(', ') : String(value))
  const facts: Fact[] = [
    ['tool', row.name],
    ['icon', row.icon],
    ['command', row.command.join(' ')],
    ['installed', row.is_installed ? (row.path ?? 'yes') : 'no'],
    ['version', row.version],
    ['can', abilityWords(abilities)],
    ['chooses ids', abilities.chooseId],
    ...config.filter(([key]) => key !== 'command' && key !== 'icon').map(([key, value]): Fact => [key, shown(value)]),
    ['rules', `version ${rules.version}, ${rules.source}`],
    ['recorded from', rules.recorded_from.join(', ')],
  ]
  const list = table(
    [...rules.rules, ...rules.titles.map((rule) => ({ ...rule, region: 'title', match: [rule.match] }))],
    [
      { header: 'RULE', text: (rule) => rule.id },
      { header: 'SAYS', text: (rule) => [rule.status, rule.waiting_for ?? rule.trouble].filter(Boolean).join(' ') },
      { header: 'WHERE', text: (rule) => rule.region },
      { header: 'LOOKS FOR', text: (rule) => rule.match.map((pattern) => pattern.source).join('  &  '), shrinkTo: 20 },
    ],
    screen,
  )
  return `${card(facts, screen)}\n\n${list}`
}

/** What the rules make of a screen: snake_case, for programs. */
export function readingDocument(tool: string, { dialog, ...reading }: ScreenReading, rules: ScreenRules): object {
  const { isCut, ...shown } = dialog ?? {}
  return {
    tool,
    ...reading,
    rules_version: rules.version,
    rules_source: rules.source,
    ...(dialog
      ? {
          dialog: {
            ...shown,
            ...(isCut ? { is_cut: true } : {}),
            options: dialog.options.map(({ isSelected, label, meaning }) => ({
              label,
              meaning,
              is_selected: isSelected,
            })),
          },
        }
      : {}),
  }
}

export function readingCard(
  tool: string,
  { dialog, ...reading }: ScreenReading,
  rules: ScreenRules,
  screen: Screen,
): string {
  const facts = card(
    [
      ['tool', tool],
      ['status', reading.status],
      ['rule', reading.rule ?? 'none: no rule matches this screen'],
      ['rules', rules.source],
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
    (option) => `  ${option.isSelected ? '>' : ' '} ${safeText(option.label)}  ${screen.paint.dim(option.meaning)}`,
  )
  return [facts, ...(options ?? [])].join('\n')
}
