import { type Settings, settingsTable } from '../../home/index.js'
import { parseDuration, SkeinError } from '../../model/index.js'

/** Enough for a program to log in before the next one does. */
const SPACING = '2s'

/** `[recover]` in the config file. */
export interface RecoverSettings {
  /** Between two starts. */
  readonly spacingMs: number
}

export function parseRecoverSettings(settings: Settings, file: string): RecoverSettings {
  const table = settingsTable(settings, 'recover', file)
  return { spacingMs: durationIn(table, 'spacing', SPACING, `recover.spacing in ${file}`) }
}

/** A duration of a table, such as "2s"; 0 is none. */
export function durationIn(table: Settings, name: string, fallback: string, called: string): number {
  const value = table[name] ?? fallback
  const ms = value === 0 || value === '0' ? 0 : typeof value === 'string' ? parseDuration(value) : undefined
  if (ms !== undefined) return ms
  throw new SkeinError('bad-config', `${called} is ${JSON.stringify(value)}`, 'Write a duration such as "2s", or 0')
}
