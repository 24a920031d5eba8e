/** Values that differ between worlds that are otherwise alike: what a clock, a process or chance decides. */
const BY_CHANCE = new Set(['pid', 'token', 'duration_ms', 'pane', 'revision', 'updated_at', 'updatedAt'])
/** The worlds' own context names another host than the daemon's, and journals are longer or shorter by it. */
const BY_HOST = new Set(['host', 'bytes', 'bytes_freed', 'sha256'])

/** The same answer in all worlds, however often it is given: times, new ids, processes and places are replaced by words. */
export function alike(value: unknown, root: string): unknown {
  if (typeof value === 'string') return textAlike(value, root)
  if (Array.isArray(value)) return value.map((one) => alike(one, root))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [
      textAlike(key, root),
      BY_CHANCE.has(key) || BY_HOST.has(key) ? `<${key}>` : alike(one, root),
    ]),
  )
}

const textAlike = (text: string, root: string): string =>
  text
    .replaceAll(root, '<root>')
    .replace(/\d{4}-\d\d-\d\dT\d\d[:-]\d\d[:-]\d\d(\.\d{3})?Z/g, '<time>')
    .replace(/\d{8}T\d{6}Z/g, '<time>')
    .replace(/Exported \d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, 'Exported <time>')
    .replace(/\d{4}-\d\d-\d\d/g, '<day>')
    // Ids of the fixtures repeat one digit and are the same everywhere.
    .replace(/(?!(\d)\1{7}-)[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<id>')
    .replace(/\b([wm])-[2-9a-hjkmnp-z]{6,9}\b/g, '<$1>')
    // The daemon or the command is the first to see it, whichever looks first.
    .replace(/prompt received: (another process has sent it|pane says running)/g, 'prompt received: <how>')
    .replace(/\b(process|pid) \d+/g, '$1 <pid>')
    .replace(/\b\d+(\.\d+)? ?(ms|s|m)\b/g, '<span>')
