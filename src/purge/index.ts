export { openPurging } from './open-purging.js'
export type * from './purge-api.js'
