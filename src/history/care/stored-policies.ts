import { type FilteredPlace, filteredPlaces, type TextStore } from '../../ingest/index.js'
import { type Policy, PURGED, policyFingerprint } from '../../privacy/index.js'

/** How much of the stored text was filtered under which policy. */
export interface StoredPolicies {
  /** Logs whose text is stored. */
  logs: number
  /** Those of them that were filtered under an older or unknown policy. */
  outdated: number
}

/** Compares what is stored with what holds now. */
export async function storedPolicies(
  text: TextStore,
  policyAt: (cwd: string | undefined) => Promise<Policy>,
): Promise<StoredPolicies & { files: Set<string> }> {
  const found = { logs: 0, outdated: 0, files: new Set<string>() }
  for (const place of filteredPlaces(text)) {
    const policy = await policyAt(place.cwd ?? undefined)
    for (const { source } of [...policy.user, ...policy.projects]) if (source.startsWith('/')) found.files.add(source)
    found.logs += place.logs
    if (isOutdated(place, policy)) found.outdated += place.logs
  }
  return found
}

/** Where a session worked may have been purged: then nothing can be said about its policy, and nothing is changed. */
export const isOutdated = ({ cwd, fingerprint }: Pick<FilteredPlace, 'cwd' | 'fingerprint'>, policy: Policy): boolean =>
  !cwd?.includes(PURGED) && fingerprint !== policyFingerprint(policy)
