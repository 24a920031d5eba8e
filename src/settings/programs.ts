import { dirname, join } from 'node:path'
import { entriesIn } from '../disk/index.js'
import { SkeinError } from '../model/index.js'
import {
  type CustomTool,
  type Environment,
  parseCustomTools,
  parseScreenRules,
  RUNNERS,
  type Runners,
  runnersFor,
  type ScreenRules,
} from '../tools/index.js'
import type { Config } from './config.js'
import type { Programs } from './programs-api.js'
import { settingsText } from './settings-file.js'
import type { Surroundings } from './surroundings.js'

/** The agent programs that can be run from here, with the user's own tools and rules. */
export class ConfiguredPrograms implements Pick<Programs, 'runners' | 'environment'> {
  constructor(
    private readonly config: Config,
    private readonly surroundings: Surroundings,
  ) {}

  async runners(): Promise<Runners> {
    const custom = await this.#custom()
    return runnersFor({ custom, patterns: await ownPatterns(join(dirname(this.config.file), 'patterns')) })
  }

  #custom(): Promise<CustomTool[]> {
    const names = RUNNERS.map((runner) => runner.name)
    return this.config.tools((tools, file) => parseCustomTools(tools, file, names))
  }

  async #described(): Promise<string[]> {
    if (!this.config.mayDescribeLogs()) return []
    return (await this.#custom()).flatMap(({ name, log }) => (log ? [name] : []))
  }

  async environment(): Promise<Environment> {
    const { home, env } = this.surroundings
    const [extraRoots, described] = [await this.config.logRoots(), await this.#described()]
    return { home, env, extraRoots, described, accounts: await this.config.accounts() }
  }
}

/** `patterns/<tool>.toml` or `.json` beside the configuration: the rules for a tool's screens, in place of ours. */
async function ownPatterns(directory: string): Promise<ScreenRules[]> {
  const files = entriesIn(directory).filter((name) => /^[a-z][a-z0-9_-]*\.(toml|json)$/.test(name))
  const rules: ScreenRules[] = []
  for (const name of files.sort()) {
    const file = join(directory, name)
    const parsed = parseScreenRules(await parsedFile(file), file)
    const tool = name.replace(/\.(toml|json)$/, '')
    if (parsed.tool !== tool)
      throw new SkeinError(
        'bad-config',
        `tool in ${file} is "${parsed.tool}"`,
        `Write tool = "${tool}", or rename the file`,
      )
    if (rules.some((one) => one.tool === tool))
      throw new SkeinError('bad-config', `There are two files for ${tool} in ${directory}`, 'Keep one of them')
    rules.push(parsed)
  }
  return rules
}

async function parsedFile(file: string): Promise<unknown> {
  const text = settingsText(file) ?? ''
  try {
    if (file.endsWith('.json')) return JSON.parse(text)
    const { parse } = await import('smol-toml')
    return parse(text)
  } catch (error) {
    const why = (error as Error).message.split('\n')[0]
    throw new SkeinError('bad-config', `${file} cannot be read: ${why}`, 'Correct it, then try again', { cause: error })
  }
}
