export type * from './care/archive-api.js'
export type * from './care/privacy-api.js'
export type * from './history-api.js'
export { openHistory } from './open-history.js'
