import { statOf } from '../disk/index.js'
import { SkeinError } from '../model/index.js'
import { readSettings, type Settings, settingsTable } from '../settings/index.js'
import type { ResetPolicy, ResetRule } from './freshness.js'
import type { SendPolicyConfig, SendRule } from './send-policy.js'

/** Where agents may send, and which file says so. */
export interface SendPolicySource {
  readonly policy: SendPolicyConfig
  /** Absent when the policy was given by the program that opened the store, or when there is none. */
  readonly file?: string
}

/** The policies of a store, asked for when they are needed: a file may change while a gateway runs. */
export interface ConversationPolicies {
  send(): Promise<SendPolicySource>
  reset(): Promise<ResetPolicy>
}

/** `[conversations.send_policy]` and `[conversations.reset]` of a config.toml; a policy that is given takes the place of the file's. */
export function policiesOf(
  file: string,
  given: { sendPolicy?: SendPolicyConfig | undefined; resetPolicy?: ResetPolicy | undefined } = {},
): ConversationPolicies {
  const { sendPolicy, resetPolicy } = given
  const configured = new ConfiguredPolicies(file)
  return {
    send: async () => (sendPolicy ? { policy: sendPolicy } : configured.send()),
    reset: async () => resetPolicy ?? configured.reset(),
  }
}

/** Reads the file again when it has changed, not with every message. A file that cannot be understood is an error: it may deny something. */
class ConfiguredPolicies implements ConversationPolicies {
  #read: { stamp: string; table: Promise<Settings> } | undefined

  constructor(private readonly file: string) {}

  async send(): Promise<SendPolicySource> {
    const table = await this.#table()
    if (table.send_policy === undefined) return { policy: {} }
    return { policy: sendPolicyIn(table, this.file), file: this.file }
  }

  async reset(): Promise<ResetPolicy> {
    const table = await this.#table()
    return table.reset === undefined ? {} : resetPolicyIn(table, this.file)
  }

  #table(): Promise<Settings> {
    const stat = statOf(this.file)
    const stamp = stat ? `${stat.ino}:${stat.size}:${stat.mtimeMs}` : ''
    if (this.#read?.stamp !== stamp) {
      const table = readSettings(this.file).then((settings) => settingsTable(settings, 'conversations', this.file))
      this.#read = { stamp, table }
    }
    return this.#read.table
  }
}

function sendPolicyIn(conversations: Settings, file: string): SendPolicyConfig {
  const name = 'conversations.send_policy'
  const { default: otherwise, rules = [], ...odd } = settingsTable(conversations, 'send_policy', file)
  refuseOdd(odd, name, ['default', 'rules'], file)
  if (!Array.isArray(rules)) throw bad(file, `${name}.rules is not a list`, `Write each as [[${name}.rules]]`)
  return {
    ...(otherwise === undefined ? {} : { default: decisionOf(otherwise, `${name}.default`, file) }),
    rules: rules.map((rule: unknown, at) => ruleIn(rule, `rule ${at + 1} of ${name}`, file)),
  }
}

function ruleIn(rule: unknown, name: string, file: string): SendRule {
  if (!isTable(rule)) throw bad(file, `${name} is not a table`, RULE_EXAMPLE)
  const { action, match = {}, ...odd } = rule
  refuseOdd(odd, name, ['action', 'match'], file)
  if (!isTable(match)) throw bad(file, `match in ${name} is not a table`, RULE_EXAMPLE)
  const { channel, chat_type, key_prefix, ...oddMatch } = match
  refuseOdd(oddMatch, `match in ${name}`, ['channel', 'chat_type', 'key_prefix'], file)
  for (const [key, value] of Object.entries({ channel, key_prefix }))
    if (value !== undefined && typeof value !== 'string')
      throw bad(file, `${key} in ${name} is not a text`, RULE_EXAMPLE)
  if (chat_type !== undefined && !CHAT_TYPES.includes(chat_type as string))
    throw bad(file, `chat_type in ${name} is ${JSON.stringify(chat_type)}`, `Use one of ${CHAT_TYPES.join(', ')}`)
  const named = { channel, chatType: chat_type, keyPrefix: key_prefix }
  return {
    match: Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined)),
    // A rule without an action would allow what it was written to deny.
    action: decisionOf(action, `action of ${name}`, file),
  }
}

function resetPolicyIn(conversations: Settings, file: string): ResetPolicy {
  const name = 'conversations.reset'
  const { by_type: _type, by_channel: _channel, ...rule } = settingsTable(conversations, 'reset', file)
  const table = settingsTable(conversations, 'reset', file)
  const byType = settingsTable(table, 'by_type', file)
  refuseOdd(byType, `${name}.by_type`, RESET_TYPES, file, RESET_TYPES)
  const rules = (of: Settings, where: string): Record<string, ResetRule> =>
    Object.fromEntries(
      Object.keys(of).map((key) => [key, resetRuleIn(settingsTable(of, key, file), `${where}.${key}`, file)]),
    )
  return {
    ...resetRuleIn(rule, name, file),
    byType: rules(byType, `${name}.by_type`),
    byChannel: rules(settingsTable(table, 'by_channel', file), `${name}.by_channel`),
  }
}

function resetRuleIn(rule: Settings, name: string, file: string): ResetRule {
  const { daily_at_hour, idle_minutes, ...odd } = rule
  refuseOdd(odd, name, ['daily_at_hour', 'idle_minutes', 'by_type', 'by_channel'], file)
  if (daily_at_hour !== undefined && !isWhole(daily_at_hour, 0, 23))
    throw bad(file, `${name}.daily_at_hour is not an hour`, 'Write a whole number from 0 to 23')
  if (idle_minutes !== undefined && !isWhole(idle_minutes, 1, Number.MAX_SAFE_INTEGER))
    throw bad(file, `${name}.idle_minutes is not a number of minutes`, 'Write a whole number from 1 on')
  return {
    ...(daily_at_hour === undefined ? {} : { dailyAtHour: daily_at_hour as number }),
    ...(idle_minutes === undefined ? {} : { idleMinutes: idle_minutes as number }),
  }
}

const CHAT_TYPES = ['dm', 'direct', 'group', 'channel']
const RESET_TYPES = ['dm', 'group', 'thread']
const RULE_EXAMPLE = 'Write it like: match = { channel = "discord", chat_type = "group" }, action = "deny"'

const isTable = (value: unknown): value is Settings =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isWhole = (value: unknown, from: number, to: number): boolean =>
  Number.isInteger(value) && Number(value) >= from && Number(value) <= to

function decisionOf(value: unknown, name: string, file: string): 'allow' | 'deny' {
  if (value === 'allow' || value === 'deny') return value
  throw bad(file, `${name} is ${JSON.stringify(value) ?? 'not given'}`, 'Write "allow" or "deny"')
}

/** A misspelled name would leave a rule without effect. */
function refuseOdd(
  table: Settings,
  name: string,
  known: readonly string[],
  file: string,
  allowed: readonly string[] = [],
): void {
  const odd = Object.keys(table).find((key) => !allowed.includes(key))
  if (odd !== undefined) throw bad(file, `${odd} is no setting of ${name}`, `There are: ${known.join(', ')}`)
}

const bad = (file: string, what: string, next: string): SkeinError =>
  new SkeinError('bad-config', `${file}: ${what}`, next)
