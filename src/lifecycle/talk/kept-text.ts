import { keptWords } from '../../home/index.js'
import type { Parts } from '../parts.js'

/** What agents say and show is read by scripts and ends in their logs: secrets and what was purged are out. */
export const keptText = async ({ home }: Pick<Parts, 'home'>, text: string): Promise<string> =>
  (await keptWords({ text }, home)).text ?? ''
