/**
 * Patterns of an ignore file in a directory of the worktree, as patterns that mean the same at the worktree's root. `directory` is '' for
 * the root itself. Frozen patterns are given to git on its command line, where they win over every ignore file: an agent that empties
 * `.gitignore` uncovers nothing.
 */
export function patternsAtRoot(text: string, directory: string): string[] {
  const prefix = directory === '' ? '' : `/${directory.replace(/[*?[\\\s]/g, '\\$&')}`
  return text.split('\n').flatMap((line) => {
    const pattern = withoutTrailingBlanks(line.replace(/\r$/, ''))
    if (pattern === '' || pattern.startsWith('#')) return []
    const isNegated = pattern.startsWith('!')
    const body = isNegated ? pattern.slice(1) : pattern
    if (body === '' || body === '/') return []
    const isAnchored = body.slice(0, -1).includes('/')
    const moved = isAnchored ? `${prefix}/${body.replace(/^\//, '')}` : prefix === '' ? body : `${prefix}/**/${body}`
    return [isNegated ? `!${moved}` : moved]
  })
}

/** Blanks at the end count only behind a backslash. */
function withoutTrailingBlanks(line: string): string {
  let end = line.length
  while (end > 0 && line[end - 1] === ' ' && line[end - 2] !== '\\') end -= 1
  return line.slice(0, end)
}

/** Deeper files win over those above them, and git lets the last match on its command line win. */
export const byDepth = (a: string, b: string): number => a.split('/').length - b.split('/').length || (a < b ? -1 : 1)
