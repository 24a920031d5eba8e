import type { Environment } from '../tools/index.js'

/** Where the tools of this user keep their logs, and which days are theirs. */
export interface Surroundings extends Omit<Environment, 'extraRoots'> {
  /** IANA name. */
  zone: string
}
