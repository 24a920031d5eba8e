import { SkeinError } from '../../model/index.js'

export const damaged = (path: string, what: string, cause?: unknown): SkeinError =>
  new SkeinError(
    'store-damaged',
    `The conversation store ${path} cannot be read: ${what}`,
    'The file is unchanged. Restore a backup, or move it away to start with an empty store',
    { cause },
  )
