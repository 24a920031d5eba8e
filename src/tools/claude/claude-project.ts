const MOST_CHARS = 200

/** Claude Code's name for the folder of a project: a long path is cut, and told apart by its hash. */
export function claudeProject(cwd: string): string {
  const name = cwd.replace(/[^A-Za-z0-9]/g, '-')
  if (name.length <= MOST_CHARS) return name
  let hash = 0
  for (let at = 0; at < cwd.length; at += 1) hash = (Math.imul(hash, 31) + cwd.charCodeAt(at)) | 0
  return `${name.slice(0, MOST_CHARS)}-${Math.abs(hash).toString(36)}`
}
