export { openPurging } from './open-purging.js'
export type { Purging } from './purge-api.js'
