import { formatDuration, type RetentionPolicy } from '../model/index.js'
import type { PolicyReport } from './event-api.js'

export const showTtl = (ms: number): string => (ms === 0 ? 'for ever' : formatDuration(ms))

export function reportPolicy(policy: RetentionPolicy, file: string): PolicyReport {
  return {
    default_ttl: showTtl(policy.defaultTtlMs),
    min_retain: policy.minRetain,
    prune_interval: showTtl(policy.pruneIntervalMs),
    ttls: Object.fromEntries(Object.entries(policy.ttls).map(([pattern, ms]) => [pattern, showTtl(ms)])),
    config_file: file,
  }
}
