import { SkeinError } from '../../model/index.js'
import { isObject, type JsonObject } from '../json-value.js'
import { safeRegex } from '../screen/safe-regex.js'

/** A value with the way to it, so that every complaint names the key and the file. */
export class ConfigValue {
  constructor(
    readonly file: string,
    readonly path: string,
    readonly value: unknown,
  ) {}

  /** An object with these keys and no others: a misspelt key must not be a rule that never fires. */
  object(keys: readonly string[]): ConfigValue {
    if (!isObject(this.value)) throw this.wrong('is not a table', `Known keys: ${keys.join(', ')}`)
    const stranger = Object.keys(this.value).find((key) => !keys.includes(key))
    if (stranger !== undefined)
      throw new ConfigValue(this.file, this.#below(stranger), undefined).wrong(
        'is not a known key',
        `Known: ${keys.join(', ')}`,
      )
    return this
  }

  /** An object whose keys are the user's own. */
  table(): JsonObject {
    if (isObject(this.value)) return this.value
    throw this.wrong('is not a table', 'Write it as a table')
  }

  get(key: string): ConfigValue {
    const found = this.optional(key)
    if (!found) throw new ConfigValue(this.file, this.#below(key), undefined).wrong('is missing', 'Add it')
    return found
  }

  optional(key: string): ConfigValue | undefined {
    const value = this.table()[key]
    return value === undefined ? undefined : new ConfigValue(this.file, this.#below(key), value)
  }

  list(): ConfigValue[] {
    if (!Array.isArray(this.value)) throw this.wrong('is not a list', 'Write it in square brackets')
    return this.value.map((value, at) => new ConfigValue(this.file, `${this.path}[${at}]`, value))
  }

  oneOrMore(): ConfigValue[] {
    return Array.isArray(this.value) ? this.list() : [this]
  }

  text(): string {
    if (typeof this.value === 'string' && this.value !== '') return this.value
    throw this.wrong('is empty or not a string', 'Write it in quotes')
  }

  count(): number {
    if (typeof this.value === 'number' && Number.isSafeInteger(this.value) && this.value > 0) return this.value
    throw this.wrong('is not a whole number above 0', 'Write one')
  }

  truth(): boolean {
    if (typeof this.value === 'boolean') return this.value
    throw this.wrong('is neither true nor false', 'Write one of them')
  }

  oneOf<Word extends string>(words: readonly Word[]): Word {
    const found = words.find((word) => word === this.value)
    if (found !== undefined) return found
    throw this.wrong(`is ${JSON.stringify(this.value)}`, `Use one of: ${words.join(', ')}`)
  }

  regex(flags: 'u' | 'iu' = 'u'): RegExp {
    try {
      return safeRegex(this.text(), flags)
    } catch (error) {
      if (error instanceof SkeinError) throw error
      const why = error instanceof Error ? error.message.replace(/^Invalid regular expression: /, '') : String(error)
      throw this.wrong(`cannot be used as a pattern: ${why}`, 'Correct the regular expression')
    }
  }

  #below(key: string): string {
    return this.path === '' ? key : `${this.path}.${key}`
  }

  /** An error about this very value. */
  wrong(problem: string, next: string): SkeinError {
    return new SkeinError('bad-config', `${this.path || 'The content'} in ${this.file} ${problem}`, next)
  }
}
