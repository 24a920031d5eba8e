import { isAbsolute, join } from 'node:path'
import {
  DEFAULT_POLICY,
  type GroupPath,
  groupLineage,
  overridesKey,
  type PriceOverrides,
  parseDuration,
  type RetentionPolicy,
  type Roles,
  SkeinError,
} from '../model/index.js'
import { type Account, type CustomTool, LOG_TOOL_NAMES } from '../tools/index.js'
import { PRICE_KEYS } from './named-keys.js'
import type { GroupAdmission, OnDone, TurnSettings, WorkProviderSettings } from './programs-api.js'
import { editSettings, readSettings, type Settings, settingsText, settingsTable as table } from './settings-file.js'
import { settingsFlaws } from './settings-keys.js'
import { withoutTable, withValue } from './toml-edit.js'

/** Less than a program needs to come up. */
const LEAST_FREE = 500_000_000
/** For the snapshots of a profile. */
const MOST_DISK = 2_000_000_000
/** A push or a merge queue, with its checks. */
const ON_DONE_MS = 600_000
/** The longest that a timer can wait: more would be none. */
const MOST_TIMEOUT_MS = 2 ** 31 - 1

/** The user's settings that concern a home. Read when they are needed: most commands never look. */
export class Config {
  constructor(
    readonly file: string,
    /** What `~` means. Only asked for where it is used: not every process has a home directory. */
    private readonly userHome: () => string,
    private readonly warn: (line: string) => void = () => {},
  ) {}

  #isChecked = false

  async retention(): Promise<RetentionPolicy> {
    const events = table(await this.#read(), 'events', this.file)
    const ttls = { ...DEFAULT_POLICY.ttls }
    for (const [pattern, ttl] of Object.entries(table(events, 'ttl', this.file)))
      ttls[pattern] = this.#duration(`events.ttl.${pattern}`, ttl)
    return {
      defaultTtlMs:
        events.default_ttl === undefined
          ? DEFAULT_POLICY.defaultTtlMs
          : this.#duration('events.default_ttl', events.default_ttl),
      ttls,
      minRetain: this.#count('events.min_retain', events.min_retain, DEFAULT_POLICY.minRetain),
      pruneIntervalMs:
        events.prune_interval === undefined
          ? DEFAULT_POLICY.pruneIntervalMs
          : this.#duration('events.prune_interval', events.prune_interval),
    }
  }

  /** Days after its end at which a session's record is packed away; 0 keeps every record as it is. */
  async archiveAfterDays(): Promise<number> {
    return this.#count(
      'sessions.archive_after_days',
      table(await this.#read(), 'sessions', this.file).archive_after_days,
      30,
    )
  }

  /** How much of the archive is kept: `[archive]` with `max_age` and `max_size`. Everything, unless it says so. */
  async archiveRetention(): Promise<{ maxAgeMs?: number; maxBytes?: number }> {
    const { max_age, max_size } = table(await this.#read(), 'archive', this.file)
    const maxAgeMs = max_age === undefined ? 0 : this.#duration('archive.max_age', max_age)
    const maxBytes = max_size === undefined ? undefined : this.#bytes('archive.max_size', max_size)
    return { ...(maxAgeMs > 0 ? { maxAgeMs } : {}), ...(maxBytes === undefined ? {} : { maxBytes }) }
  }

  /** More places to look for the logs of a tool: `[logs]` with a list of directories per tool. */
  async logRoots(): Promise<Record<string, readonly string[]>> {
    const roots: Record<string, readonly string[]> = {}
    for (const [tool, paths] of Object.entries(table(await this.#read(), 'logs', this.file))) {
      if (!LOG_TOOL_NAMES.includes(tool)) {
        const message = `logs.${tool} in ${this.file} is not a tool whose logs Skein reads`
        throw new SkeinError('bad-config', message, `Use one of ${LOG_TOOL_NAMES.join(', ')}`)
      }
      const list: unknown[] = Array.isArray(paths) ? paths : [undefined]
      roots[tool] = list.map((path) => this.#directory(`logs.${tool}`, path))
    }
    for (const { tool, logs } of Object.values(await this.accounts())) roots[tool] = [...(roots[tool] ?? []), logs]
    return roots
  }

  /** The user's own tools, and what they change about ours: `[tools.<name>]`. */
  async tools(parse: (tools: Record<string, unknown>, file: string) => CustomTool[]): Promise<CustomTool[]> {
    return parse(table(await this.#read(), 'tools', this.file), this.file)
  }

  /** Whether a tool of the user's own may describe its logs. Most users have none: TOML is read only where the word occurs. */
  mayDescribeLogs(): boolean {
    return settingsText(this.file)?.includes('log_glob') ?? false
  }

  /** The user's accounts of tools: `[accounts.<name>]` with `config_dir`, and `tool` unless it is one of Claude Code. */
  async accounts(): Promise<Record<string, Account>> {
    const mayHaveSome = settingsText(this.file)?.includes('accounts') ?? false
    if (!mayHaveSome) return {}
    const { accountsOf } = await import('./accounts.js')
    return accountsOf(await this.#read(), this.file, this.userHome)
  }

  /** The roles of agents: `[roles]`. Most users have none, and hooks ask for them: TOML is read only where the word occurs. */
  async roles(): Promise<Roles> {
    const mayHaveSome = /roles|themes/.test(settingsText(this.file) ?? '')
    const { rolesOf } = await import('./roles.js')
    return rolesOf(mayHaveSome ? await this.#read() : {}, this.file, this.userHome)
  }

  /** What submits finished work: `[work] on_done`, and how long it may take, `on_done_timeout`. The user's own file alone may name it, never a repository's. */
  async onDone(): Promise<OnDone | undefined> {
    const { on_done, on_done_timeout: limit } = table(await this.#read(), 'work', this.file)
    const command = this.#words('work.on_done', on_done, '["git", "push"]')
    if (command === undefined) return undefined
    const limitMs = limit === undefined ? ON_DONE_MS : this.#duration('work.on_done_timeout', limit)
    return { command, limitMs: Math.min(limitMs || MOST_TIMEOUT_MS, MOST_TIMEOUT_MS) }
  }

  /** What makes a new worktree ready for a fork: `[fork] setup`. Never from a file of a repository either. */
  async forkSetup(): Promise<readonly string[] | undefined> {
    return this.#words('fork.setup', table(await this.#read(), 'fork', this.file).setup, '["npm", "ci"]')
  }

  /** A program and its arguments. */
  #words(name: string, command: unknown, example: string): readonly string[] | undefined {
    if (command === undefined) return undefined
    const isArgv = Array.isArray(command) && command.length > 0 && command.every((word) => typeof word === 'string')
    if (isArgv) return command as string[]
    const next = `Give the program and each argument as a text of its own: ${name.split('.').at(-1)} = ${example}`
    throw new SkeinError('bad-config', `${name} in ${this.file} is not a list of words`, next)
  }

  /**
   * Where work is kept: `[work] provider`, with `beads_dir` and `beads_program` for beads. One that this version does not have is an error:
   * nothing is kept elsewhere instead.
   */
  async workProvider(): Promise<WorkProviderSettings> {
    const isNamed = settingsText(this.file)?.includes('provider') ?? false // no TOML on the way to a hook
    const work = isNamed ? table(await this.#read(), 'work', this.file) : {}
    const { provider = 'built-in', beads_dir, beads_program = 'bd' } = work
    if (provider === 'built-in') return { name: provider }
    if (provider !== 'beads') {
      const message = `work.provider in ${this.file} is ${JSON.stringify(provider)}, which this version does not have`
      throw new SkeinError('bad-config', message, 'Use "built-in" or "beads", or leave it out')
    }
    if (beads_dir === undefined) {
      const next = 'Write it like beads_dir = "~/project/.beads"'
      throw new SkeinError('bad-config', `work.beads_dir in ${this.file} is missing: beads has no other store`, next)
    }
    if (typeof beads_program !== 'string' || beads_program === '') {
      const message = `work.beads_program in ${this.file} is ${JSON.stringify(beads_program)}, not a program`
      throw new SkeinError('bad-config', message, 'Write it like beads_program = "/usr/local/bin/bd"')
    }
    const program = beads_program.startsWith('~/') ? join(this.userHome(), beads_program.slice(2)) : beads_program
    return { name: provider, directory: this.#directory('work.beads_dir', beads_dir), program, file: this.file }
  }

  /** `[groups."<path>"]` with `max_running` and `repository`, the nearest group first, and `[work] min_free_memory`. */
  async admission(group: GroupPath): Promise<GroupAdmission> {
    const settings = await this.#read()
    const groups = table(settings, 'groups', this.file)
    const { min_free_memory } = table(settings, 'work', this.file)
    const found: GroupAdmission = {
      leastFree: min_free_memory === undefined ? LEAST_FREE : this.#bytes('work.min_free_memory', min_free_memory),
    }
    for (const path of groupLineage(group)) {
      if (groups[path] === undefined) continue
      const { max_running, repository, snapshots: _snapshots, ...others } = table(groups, path, this.file)
      const [other] = Object.keys(others)
      if (other !== undefined)
        throw new SkeinError(
          'bad-config',
          `groups.${path}.${other} in ${this.file} is not a setting`,
          'Known: max_running, repository, snapshots',
        )
      if (max_running !== undefined) found.limit = this.#count(`groups.${path}.max_running`, max_running, 1)
      if (repository !== undefined) found.repository = this.#directory(`groups.${path}.repository`, repository)
    }
    return found
  }

  /** `[turns]`, and `snapshots` of the nearest group that has it. Asked for with every turn: TOML is read only where the word occurs. */
  async turns(group?: GroupPath): Promise<TurnSettings> {
    const isNamed = /turns|snapshots/.test(settingsText(this.file) ?? '')
    const settings = isNamed ? await this.#read() : {}
    const { snapshots, max_file_size, max_time, max_disk, commit, push } = table(settings, 'turns', this.file)
    const groups = table(settings, 'groups', this.file)
    const ofGroup = groupLineage(group ?? ('' as GroupPath))
      .flatMap((path) =>
        groups[path] === undefined ? [] : [[path, table(groups, path, this.file).snapshots] as const],
      )
      .filter(([, value]) => value !== undefined)
      .at(-1)
    return {
      snapshots: ofGroup
        ? this.#flag(`groups.${ofGroup[0]}.snapshots`, ofGroup[1], true)
        : this.#flag('turns.snapshots', snapshots, true),
      ...(max_file_size === undefined ? {} : { mostFileBytes: this.#bytes('turns.max_file_size', max_file_size) }),
      ...(max_time === undefined ? {} : { budgetMs: this.#duration('turns.max_time', max_time) }),
      mostDiskBytes: max_disk === undefined ? MOST_DISK : this.#bytes('turns.max_disk', max_disk),
      commit: this.#flag('turns.commit', commit, false),
      ...this.#remote(push),
    }
  }

  /** Prices that the published list has wrong or does not have: `[prices."model*"]` with dollars per million tokens. */
  async prices(): Promise<PriceOverrides> {
    const models = table(await this.#read(), 'prices', this.file)
    for (const model of Object.keys(models)) {
      for (const [name, value] of Object.entries(table(models, model, this.file))) {
        const isPrice = typeof value === 'number' && Number.isFinite(value) && value >= 0 && PRICE_KEYS.includes(name)
        if (!isPrice)
          throw new SkeinError(
            'bad-config',
            `prices.${model}.${name} in ${this.file} is not a price`,
            `Known: ${PRICE_KEYS.join(', ')}, in dollars per million tokens`,
          )
      }
      const { input, output } = models[model] as Record<string, unknown>
      if (input === undefined || output === undefined) {
        throw new SkeinError(
          'bad-config',
          `prices.${model} in ${this.file} lacks input or output`,
          'Write both, in dollars per million tokens',
        )
      }
    }
    return models as unknown as PriceOverrides
  }

  /** The same for a list, which should not wait for TOML: most users have no prices of their own. */
  async pricesKey(): Promise<string> {
    const mayHaveSome = settingsText(this.file)?.includes('prices') ?? false
    return overridesKey(mayHaveSome ? await this.prices() : {})
  }

  async setTtl(pattern: string, ttl: string): Promise<void> {
    if (!/^(\*|[a-z][a-z0-9_*.]*|default)$/.test(pattern)) {
      throw new SkeinError(
        'bad-input',
        `"${pattern}" is not an event type or pattern`,
        'Use a type such as mail, a pattern such as patrol_*, or default',
      )
    }
    if (ttl !== '0' && !parseDuration(ttl)) throw badDuration('the time to live', ttl)
    const [path, key] = pattern === 'default' ? ['events', 'default_ttl'] : ['events.ttl', pattern]
    await editSettings(this.file, (text) => withValue(text, path, key, ttl))
  }

  async resetTtls(): Promise<void> {
    if (settingsText(this.file) === undefined) return
    await editSettings(this.file, (text) =>
      withoutTable(withValue(text, 'events', 'default_ttl', undefined), 'events.ttl'),
    )
  }

  async #read(): Promise<Settings> {
    const settings = await readSettings(this.file)
    if (!this.#isChecked) {
      this.#isChecked = true
      for (const flaw of settingsFlaws(settings, settingsText(this.file) ?? '', this.file)) this.warn(flaw)
    }
    return settings
  }

  /** A relative one would lie elsewhere for every directory that a command is typed in. */
  #directory(name: string, path: unknown): string {
    if (path === '~' || (typeof path === 'string' && path.startsWith('~/'))) return join(this.userHome(), path.slice(1))
    if (typeof path === 'string' && isAbsolute(path)) return path
    throw new SkeinError(
      'bad-config',
      `${name} in ${this.file} is not a list of directories`,
      'Write it like ["/srv/logs", "~/logs"]',
    )
  }

  /** `true` is `origin`. */
  #remote(push: unknown): { push?: string } {
    if (push === undefined || push === false) return {}
    if (push === true) return { push: 'origin' }
    if (typeof push === 'string' && /^[A-Za-z0-9_][\w./-]*$/.test(push)) return { push }
    const next = 'Write true for origin, or the name of a remote'
    throw new SkeinError('bad-config', `turns.push in ${this.file} is ${JSON.stringify(push)}`, next)
  }

  #flag(name: string, value: unknown, otherwise: boolean): boolean {
    if (value === undefined || typeof value === 'boolean') return value ?? otherwise
    throw new SkeinError('bad-config', `${name} in ${this.file} is ${JSON.stringify(value)}`, 'Write true or false')
  }

  #duration(name: string, value: unknown): number {
    const ms = value === 0 || value === '0' ? 0 : typeof value === 'string' ? parseDuration(value) : undefined
    if (ms === undefined) throw badDuration(`${name} in ${this.file}`, value)
    return ms
  }

  #bytes(name: string, value: unknown): number {
    const [, number, unit] = /^(\d{1,6}(?:\.\d{1,3})?) ?(KB|MB|GB|TB)$/i.exec(String(value)) ?? []
    const power = ['KB', 'MB', 'GB', 'TB'].indexOf(unit?.toUpperCase() ?? '') + 1
    if (number !== undefined && power > 0) return Math.round(Number(number) * 1000 ** power)
    throw new SkeinError(
      'bad-config',
      `${name} in ${this.file} is ${JSON.stringify(value)}, not a size`,
      'Write it like "500MB" or "2GB"',
    )
  }

  #count(name: string, value: unknown, otherwise: number): number {
    if (value === undefined) return otherwise
    if (typeof value === 'number' && Number.isInteger(value) && value >= 0) return value
    throw new SkeinError(
      'bad-config',
      `${name} in ${this.file} is ${JSON.stringify(value)}, not a whole number`,
      `Write one, such as ${otherwise}`,
    )
  }
}

const badDuration = (what: string, value: unknown): SkeinError =>
  new SkeinError(
    'bad-config',
    `${what} is ${JSON.stringify(value)}, not a duration`,
    'Write it like "36h", "7d", or "0" for ever',
  )
