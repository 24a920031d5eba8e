/** What a bundle of code has, beside its objects. */
export interface CarriedCode {
  format: 'sha1' | 'sha256'
  is_git: boolean
  /** Where the files were. */
  root: string
  /** Commits of snapshots, oldest first. The last one is what is restored. */
  snapshots: string[]
  /** For each commit that HEAD was at: a commit of ours with the same files and without its history. */
  heads: { head: string; commit: string }[]
}

export const OID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/
const MOST_SNAPSHOTS = 100_000

/** Parses what a pack says of its code; undefined when it is no such thing. */
export function carriedCode(value: unknown): CarriedCode | undefined {
  const code = (typeof value === 'object' && value !== null ? value : {}) as CarriedCode
  const isWhole =
    (code.format === 'sha1' || code.format === 'sha256') &&
    typeof code.is_git === 'boolean' &&
    typeof code.root === 'string' &&
    code.root.startsWith('/') &&
    isListOf(code.snapshots, (one) => typeof one === 'string' && OID.test(one)) &&
    code.snapshots.length > 0 &&
    isListOf(code.heads, (one) => OID.test(one?.head) && OID.test(one?.commit))
  return isWhole ? code : undefined
}

const isListOf = <One>(list: readonly One[], is: (one: One) => boolean): boolean =>
  Array.isArray(list) && list.length <= MOST_SNAPSHOTS && list.every(is)
