import { isAbsolute, join } from 'node:path'
import { type Account, ConfigValue, RUNNERS } from '../tools/index.js'
import { ACCOUNT_KEYS } from './named-keys.js'
import type { Settings } from './settings-file.js'

const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/

/** `[accounts.<name>]`: another directory for the account, settings and logs of a tool. */
export function accountsOf(settings: Settings, file: string, userHome: () => string): Record<string, Account> {
  const value = new ConfigValue(file, 'accounts', settings.accounts ?? {})
  const tools = RUNNERS.filter(({ account }) => account !== undefined)
  const found: Record<string, Account> = {}
  for (const name of Object.keys(value.table())) {
    const one = value.get(name).object(ACCOUNT_KEYS)
    if (!NAME.test(name)) throw one.wrong('is not a name for an account', 'Use letters, digits, ".", "_" and "-"')
    const tool = one.optional('tool')?.oneOf(tools.map((runner) => runner.name)) ?? 'claude'
    const directory = directoryOf(one.get('config_dir'), userHome)
    const logs = tools.find((runner) => runner.name === tool)?.account?.root(directory) ?? directory
    found[name] = { tool, directory, logs }
  }
  return found
}

function directoryOf(value: ConfigValue, userHome: () => string): string {
  const path = value.text()
  if (path === '~' || path.startsWith('~/')) return join(userHome(), path.slice(1))
  if (isAbsolute(path) && !path.includes('\0')) return path
  throw value.wrong('is not an absolute path', 'Begin it with / or ~/')
}
