import { editFile, readGuarded, UnsuitableFile } from '../disk/index.js'
import { SkeinError } from '../model/index.js'

/** What the user's config file says, parsed and not yet understood. */
export type Settings = Record<string, unknown>

/** Empty when there is no file. A file that cannot be parsed is an error with its line: settings are never guessed. */
export async function readSettings(file: string): Promise<Settings> {
  const text = settingsText(file)
  if (text === undefined) return {}
  const { parse, TomlError } = await import('smol-toml') // not on the path of a command without settings
  try {
    return parse(text)
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    const what = error.message.split('\n')[0]?.replace(/^Invalid TOML document: /, '')
    const message = `${file}:${error.line}:${error.column}: ${what}`
    throw new SkeinError('bad-config', message, 'Correct that line, then try again', { cause: error })
  }
}

const MOST_BYTES = 1024 * 1024

/** The text of a settings file; undefined when there is none. */
export function settingsText(file: string): string | undefined {
  try {
    return readGuarded(file, { mostBytes: MOST_BYTES }).toString('utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // Nothing, or a link that leads nowhere.
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP') return undefined
    const what = error instanceof UnsuitableFile ? `is ${code}` : `cannot be read (${code})`
    throw new SkeinError('bad-config', `${file} ${what}`, 'Replace it with a settings file, or remove it', {
      cause: error,
    })
  }
}

/** Changes the text of a config file. One that cannot be parsed is not edited, and no edit leaves one that cannot be. */
export async function editSettings(file: string, edit: (text: string) => string): Promise<void> {
  await readSettings(file)
  const { parse } = await import('smol-toml')
  await editFile(
    file,
    (before = '') => {
      parse(before) // as it is now: somebody may have saved it since
      const content = edit(before)
      parse(content)
      return content
    },
    { durable: true },
  )
}

/** The table of that name, empty when it is not there. */
export function settingsTable(of: Settings, name: string, file: string): Settings {
  const value = of[name] ?? {}
  if (typeof value === 'object' && !Array.isArray(value) && !(value instanceof Date)) return value as Settings
  throw new SkeinError('bad-config', `"${name}" in ${file} is not a table`, `Write it as [${name}] with its keys below`)
}
