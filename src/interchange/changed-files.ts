import { TOOL_KINDS } from '../privacy/index.js'

/** What agent programs call the argument that names the file. */
const NAMES = ['file_path', 'filePath', 'path', 'notebook_path', 'absolute_path', 'target_file']
const CHANGERS = new Set(TOOL_KINDS.find(({ what }) => what === 'change a file')?.names)
const PATCH_LINE = /^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$/gm

/**
 * The files that a call changes, by the arguments that the policy keeps of it. A policy that hides the arguments hides the paths in them,
 * so nothing is taken from anywhere else.
 */
export function changedFiles({ name, kept }: { name: string; kept: Record<string, unknown> | undefined }): string[] {
  if (!kept || !CHANGERS.has(name)) return []
  const texts = Object.entries(kept).filter((entry): entry is [string, string] => isWords(entry[1]))
  const named = texts.filter(([argument]) => NAMES.includes(argument)).map(([, path]) => path)
  const patched = texts.flatMap(([, text]) => [...text.matchAll(PATCH_LINE)].map(([, path = '']) => path.trim()))
  return [...new Set(named.length > 0 ? named : patched)].filter((path) => path !== '')
}

/** Not one of the types that the tier `metadata` leaves in place of values. */
export const isWords = (value: unknown): value is string =>
  typeof value === 'string' && !/^\[(string|number|boolean|null|array|object)\]$/.test(value)
