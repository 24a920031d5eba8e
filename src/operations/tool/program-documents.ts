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

/** The configuration of a tool, every key; values of variables are not shown. */
export function configOf(tool: CustomTool): Record<string, unknown> {
  const { name: _name, env, log, ...rest } = tool
  const written = (patterns: CustomTool['busy_patterns']): string[] => patterns.map((pattern) => pattern.written)
  return {
    ...rest,
    ...log?.written,
    busy_patterns: written(tool.busy_patterns),
    prompt_patterns: written(tool.prompt_patterns),
    idle_patterns: written(tool.idle_patterns),
    detect_patterns: written(tool.detect_patterns),
    env: Object.keys(env),
  }
}

/** Rules as `--json` prints them: patterns as they are written. */
export function rulesDocument({ version, recorded_from, source, rules, titles }: ScreenRules) {
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

/** What the rules make of a screen: snake_case, for programs. */
export function readingDocument(tool: string, { dialog, ...reading }: ScreenReading, rules: ScreenRules) {
  const { isCut, isTopless: _isTopless, ...shown } = dialog ?? {}
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
