import { readGuarded } from '../../disk/index.js'
import { SkeinError } from '../../model/index.js'

const MOST_BYTES = 1024 * 1024
const ASSIGNMENT = /^(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)=(.*)$/

/** Variables from a file of `NAME=value` lines. Values may be quoted; nothing in them is expanded. They are never shown. */
export function readEnvFile(path: string, key: string): Record<string, string> {
  let text: string
  try {
    text = readGuarded(path, { mostBytes: MOST_BYTES }).toString('utf8')
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error'
    throw new SkeinError(
      'bad-config',
      `${path}, named by ${key}, cannot be read: ${code}`,
      'Correct the path, or create the file',
      {
        cause: error,
      },
    )
  }
  const variables: Record<string, string> = {}
  for (const [at, line] of text.split(/\r?\n/).entries()) {
    const trimmed = line.trim()
    if (trimmed === '' || trimmed.startsWith('#')) continue
    const [, name, value] = ASSIGNMENT.exec(trimmed) ?? []
    if (name === undefined || value === undefined)
      throw new SkeinError(
        'bad-config',
        `${path}:${at + 1} is not NAME=value`,
        'Write one variable per line; comments start with #',
      )
    variables[name] = unquoted(value.trim())
  }
  return variables
}

function unquoted(value: string): string {
  const quote = value[0]
  const isQuoted = value.length > 1 && (quote === '"' || quote === "'") && value.endsWith(quote)
  return isQuoted ? value.slice(1, -1) : value
}
