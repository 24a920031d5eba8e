export type { FoldedSession, Projection } from './projection.js'
export type { SessionIndex } from './session-index.js'
export type { SessionPage, SessionQuery } from './session-query.js'
export { SqliteIndex } from './sqlite-index.js'
