import { plural } from '../screen/plural.js'

/** One line for those whose policy has changed since the logs were read. */
export const outdatedNote = (logs: number): string =>
  `The text of ${plural(logs, 'log')} was stored under another policy. Apply the current one with: skein privacy apply`
