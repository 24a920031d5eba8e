import { existsSync, readFileSync } from 'node:fs'
import { refuseForeign } from '../disk/index.js'
import { SkeinError } from '../model/index.js'

/** What the user's config file says, parsed and not yet understood. */
export type Settings = Record<string, unknown>

/** Empty when there is no file. A file that cannot be parsed is an error with its line: settings are never guessed. */
export async function readSettings(file: string): Promise<Settings> {
  if (!existsSync(file)) return {}
  refuseForeign(file)
  const { parse, TomlError } = await import('smol-toml') // not on the path of a command without settings
  try {
    return parse(readFileSync(file, 'utf8'))
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    const what = error.message.split('\n')[0]?.replace(/^Invalid TOML document: /, '')
    const message = `${file}:${error.line}:${error.column}: ${what}`
    throw new SkeinError('bad-config', message, 'Correct that line, then try again', { cause: error })
  }
}

/** The table of that name, empty when it is not there. */
export function settingsTable(of: Settings, name: string, file: string): Settings {
  const value = of[name] ?? {}
  if (typeof value === 'object' && !Array.isArray(value) && !(value instanceof Date)) return value as Settings
  throw new SkeinError('bad-config', `"${name}" in ${file} is not a table`, `Write it as [${name}] with its keys below`)
}
