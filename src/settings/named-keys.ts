import { DEFAULT_START } from '../model/index.js'

// The keys of tables whose names the user chooses: what reads such a table refuses others, and a check of the whole file names them.

/** Of `[roles.<name>]`. */
export const ROLE_KEYS = [
  'session_name',
  'address',
  'mail_address',
  'cwd',
  'respawn',
  'stuck_after',
  'hibernate_after',
  'shutdown_order',
  'handoff',
  'precompact',
  'context',
  'instructions',
  'tool',
  'model',
  'args',
  'dangerous',
  'theme',
  'beacon',
  'start',
] as const
/** Of `[roles]` itself: these are no roles. */
export const ROLES_KEYS: readonly string[] = ['preset', 'root', 'prefixes']
/** Of `[roles.<name>.start]`. */
export const START_KEYS: readonly string[] = Object.keys(DEFAULT_START)
/** Of `[accounts.<name>]`. */
export const ACCOUNT_KEYS: readonly string[] = ['config_dir', 'tool']
/** Of `[themes.<name>]`. */
export const THEME_KEYS: readonly string[] = ['bg', 'fg', 'label', 'groups']
/** Of `[prices.<model>]`. */
export const PRICE_KEYS: readonly string[] = [
  'input',
  'output',
  'cache_read',
  'cache_write_5m',
  'cache_write_1h',
  'web_search',
  'fast_factor',
]
