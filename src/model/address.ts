import { SkeinError } from './error.js'

declare const addressBrand: unique symbol
/** Where an agent lives in the group tree: `projects/backend/api`. The last segment is the agent's name. */
export type AgentAddress = string & { readonly [addressBrand]: 'agent' }
/** A group's place in the tree: `projects/backend`. */
export type GroupPath = string & { readonly [addressBrand]: 'group' }

const MAX_SEGMENTS = 8
const MAX_LENGTH = 255
// A segment names things in tmux and in file names: letters and digits of any script, then also . _ - but no leading dot.
const SEGMENT = /^[\p{L}\p{N}_][\p{L}\p{M}\p{N}._-]{0,63}$/u

export function parseAddress(text: string): AgentAddress {
  return checked(text, 'agent address', 'projects/backend/api') as AgentAddress
}

export function parseGroupPath(text: string): GroupPath {
  return checked(text, 'group path', 'projects/backend') as GroupPath
}

/** One segment, for a name on its own. */
export function parseName(text: string): string {
  if (!String(text).includes('/')) return checked(text, 'name', 'api')
  throw badAddress('name', text, 'api')
}

export function joinAddress(group: GroupPath | undefined, name: string): AgentAddress {
  return (group ? `${group}/${name}` : name) as AgentAddress
}

/** The group part and the name. An address of one segment has no group. */
export function splitAddress(address: AgentAddress): { group: GroupPath | undefined; name: string } {
  const slash = address.lastIndexOf('/')
  if (slash < 0) return { group: undefined, name: address }
  return { group: address.slice(0, slash) as GroupPath, name: address.slice(slash + 1) }
}

/** The group that contains a group or an agent. */
export function containerOf(path: GroupPath | AgentAddress): GroupPath | undefined {
  return splitAddress(path as string as AgentAddress).group
}

export const lastSegment = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

/** The same for paths that differ only in case. */
export const caseless = (path: string): string => path.toUpperCase().toLowerCase().normalize('NFC')

/** `a/b/c` → `a`, `a/b`, `a/b/c`: every group that holds this one, itself included, outermost first. */
export function groupLineage(path: GroupPath): GroupPath[] {
  const segments = path.split('/')
  return segments.map((_, depth) => segments.slice(0, depth + 1).join('/') as GroupPath)
}

export function isWithin(path: string, group: GroupPath): boolean {
  return path === group || path.startsWith(`${group}/`)
}

/** Puts what lay under `from` under `to`, keeping the rest of the path. */
export function rebase<P extends string>(path: P, from: GroupPath, to: GroupPath): P {
  return (to + path.slice(from.length)) as P
}

function checked(text: unknown, what: string, example: string): string {
  if (typeof text !== 'string') throw badAddress(what, String(text), example)
  const path = text.normalize('NFC')
  const segments = path.split('/')
  const fits = path.length <= MAX_LENGTH && segments.length <= MAX_SEGMENTS
  if (fits && segments.every((segment) => SEGMENT.test(segment))) return path
  throw badAddress(what, text, example)
}

function badAddress(what: string, text: string, example: string): SkeinError {
  return new SkeinError(
    'bad-address',
    `${JSON.stringify(text.slice(0, 260))} is not a valid ${what}`,
    `Use letters, digits, ".", "_" and "-" in up to ${MAX_SEGMENTS} parts of 64, like ${example}`,
  )
}
