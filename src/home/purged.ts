import type { PurgeFilter } from '../privacy/index.js'
import { PurgeList } from '../store/index.js'

/** What was purged from a home and must not be stored again. Apart, because it loads the rules. */
export const purgedFrom = (root: string): PurgeFilter | undefined => new PurgeList(root).purgeFilter()
