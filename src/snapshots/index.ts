export { SnapshotsErasure } from './erasure.js'
export type { Limits } from './limits.js'
export { Snapshots } from './snapshots.js'
