import { type Fields, flag, optional, text } from '../operations/index.js'

/** Accepted by every command, before or after its name. */
export const GLOBAL_OPTIONS = {
  profile: optional(text('name', 'profile'), 'Use this profile instead of $SKEIN_PROFILE', {
    short: 'p',
    fallback: 'default',
  }),
  create: flag('Make that profile if there is none of the name'),
  json: flag('Print JSON, with stable field names'),
  'no-color': flag('Do not use colours, like NO_COLOR'),
  help: flag('Show help', { short: 'h' }),
} as const

/** What a command accepts beside its own options: a letter that it uses itself means its own option. */
export function globalsBeside(own: Fields): Fields {
  const taken = new Set(Object.values(own).map(({ short }) => short))
  return Object.fromEntries(
    Object.entries<Fields[string]>(GLOBAL_OPTIONS).map(([name, { short, ...option }]) => [
      name,
      short === undefined || taken.has(short) ? option : { ...option, short },
    ]),
  )
}

export const DEFAULT_PROFILE = 'default'
