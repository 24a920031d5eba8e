import type { GroupPath } from './address.js'
import type { Group } from './agent.js'
import { SkeinError } from './error.js'

export const MAX_ORDER = 999_999_999

export function checkOrder(order: number): number {
  if (Number.isInteger(order) && order >= 0 && order <= MAX_ORDER) return order
  throw new SkeinError(
    'bad-input',
    `${String(order)} is not a valid order`,
    `Use a whole number from 0 to ${MAX_ORDER}; lower numbers come first`,
  )
}

/**
 * The orders that change when a group gets `order`. A sibling that has this number already moves behind it, and so do those that
 * follow without a gap, so that the group comes exactly where it was put. `siblings` are in display order.
 */
export function reordered(siblings: readonly Group[], path: GroupPath, order: number): Map<GroupPath, number> {
  const changed = new Map([[path, order]])
  let taken = order
  for (const sibling of siblings) {
    if (sibling.path === path || sibling.order < order) continue
    if (sibling.order > taken) break
    changed.set(sibling.path, checkOrder(++taken))
  }
  return changed
}
