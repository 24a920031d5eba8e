import { type Settings, settingsTable } from '../home/index.js'
import { SkeinError } from '../model/index.js'

/** `[daemon]` in the config file. */
export interface DaemonSettings {
  /** Commands that are better with a daemon start one. */
  readonly autostart: boolean
  /** The daemon reads the tools' logs as they are written. */
  readonly ingest: boolean
}

export function parseDaemonSettings(settings: Settings, file: string): DaemonSettings {
  const table = settingsTable(settings, 'daemon', file)
  const stray = Object.keys(table).find((key) => key !== 'autostart' && key !== 'ingest')
  if (stray !== undefined) throw bad(`[daemon] in ${file} has the unknown key "${stray}"`, 'Known: autostart, ingest')
  const flag = (name: 'autostart' | 'ingest'): boolean => {
    const value = table[name] ?? true
    if (typeof value === 'boolean') return value
    throw bad(`daemon.${name} in ${file} is ${JSON.stringify(value)}`, 'Write true or false')
  }
  return { autostart: flag('autostart'), ingest: flag('ingest') }
}

const bad = (message: string, next: string): SkeinError => new SkeinError('bad-config', message, next)
