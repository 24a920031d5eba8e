import { nearest, SkeinError } from '../../model/index.js'
import { customRunner, rulesOf } from '../custom/custom-runner.js'
import type { CustomTool } from '../custom/custom-tool.js'
import { builtInRules } from '../patterns/built-in.js'
import { readScreenBy, readTitleBy } from '../screen/read-screen.js'
import type { ScreenRules } from '../screen/rules.js'
import type { ToolRunner } from './tool-runner.js'

/** What the user has said about tools: their own, and rules for screens that replace ours. */
export interface ToolSettings {
  readonly custom: readonly CustomTool[]
  readonly patterns: readonly ScreenRules[]
}

/** A program that Skein knows nothing about, run by an agent's own command. `[tools.custom]` describes it better. */
const ANY_PROGRAM: CustomTool = {
  name: 'custom',
  source: 'built in',
  command: ['sh'],
  busy_patterns: [],
  prompt_patterns: [],
  idle_patterns: [],
  detect_patterns: [],
  dangerous_mode: false,
  env: {},
}

/** Every tool that can be run here: ours, and those of the configuration, which may take the place of one of ours. */
export class Runners {
  readonly all: readonly ToolRunner[]
  readonly #rules = new Map<string, ScreenRules>()
  readonly #custom: ReadonlyMap<string, CustomTool>

  constructor(builtIn: readonly ToolRunner[], { custom, patterns }: ToolSettings) {
    const own = new Map(patterns.map((rules) => [rules.tool, rules]))
    this.#custom = new Map(custom.map((tool) => [tool.name, tool]))
    const runners = new Map(builtIn.map((runner) => [runner.name, withRules(runner, own.get(runner.name))]))
    for (const rules of patterns) this.#rules.set(rules.tool, rules)
    runners.set(ANY_PROGRAM.name, anyProgram())
    this.#rules.set(ANY_PROGRAM.name, rulesOf(ANY_PROGRAM, undefined))
    for (const tool of custom) {
      const base = builtIn.find((runner) => runner.name === tool.compatible_with)
      const baseRules = own.get(tool.name) ?? (base ? (own.get(base.name) ?? builtInRules(base.name)) : undefined)
      runners.set(tool.name, customRunner(tool, base, baseRules))
      this.#rules.set(tool.name, rulesOf(tool, baseRules))
    }
    this.all = [...runners.values()]
  }

  named(name: string): ToolRunner {
    const found = this.all.find((runner) => runner.name === name)
    if (found) return found
    const names = this.all.map((runner) => runner.name)
    const meant = nearest(name, names)
    throw new SkeinError(
      'tool-unknown',
      `There is no tool called ${JSON.stringify(name.slice(0, 60))}`,
      `${meant ? `Did you mean ${meant}? ` : ''}Known: ${names.join(', ')}; others go into config.toml as [tools.<name>]`,
    )
  }

  /** How the screen of this tool is read. */
  rulesOf(name: string): ScreenRules {
    return this.#rules.get(this.named(name).name) ?? builtInRules(name)
  }

  /** What the configuration says about it. */
  definitionOf(name: string): CustomTool | undefined {
    return this.#custom.get(name)
  }
}

/** Without a command of the agent there is nothing to run: a shell in its place would run what is meant for an agent as commands. */
function anyProgram(): ToolRunner {
  const runner = customRunner(ANY_PROGRAM, undefined, undefined)
  return {
    ...runner,
    prepare: (launch) => {
      if (launch.command) return runner.prepare(launch)
      const next = 'Give the agent one: --command <command> . Or describe the program as [tools.custom] in config.toml'
      throw new SkeinError('bad-input', 'The tool "custom" runs the agent\'s own command, and there is none', next)
    },
  }
}

function withRules(runner: ToolRunner, rules: ScreenRules | undefined): ToolRunner {
  if (!rules) return runner
  return {
    ...runner,
    readScreen: (screen) => readScreenBy(rules, screen),
    readTitle: (title) => readTitleBy(rules, title),
  }
}
