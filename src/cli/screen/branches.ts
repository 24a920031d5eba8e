import { displayWidth, truncateToWidth } from './display-width.js'
import type { Screen } from './screen.js'

export interface Branch {
  /** What names it: safe already. Each part is painted after its width is known. */
  parts: readonly Part[]
  /** Free text at the end of the line, which gives way when the terminal is narrow. */
  title?: string | undefined
  branches: readonly Branch[]
}

export type Part = string | { text: string; paint: (text: string) => string }

/** A tree drawn with box lines, one line per branch. */
export function drawBranches(roots: readonly Branch[], screen: Screen): string {
  return roots.flatMap((root) => [line('', root, screen), ...below(root, '', screen)]).join('\n')
}

function below({ branches }: Branch, indent: string, screen: Screen): string[] {
  return branches.flatMap((branch, at) => {
    const isLast = at === branches.length - 1
    const own = line(`${indent}${isLast ? '└─ ' : '├─ '}`, branch, screen)
    return [own, ...below(branch, indent + (isLast ? '   ' : '│  '), screen)]
  })
}

function line(lead: string, { parts, title = '' }: Branch, { width }: Screen): string {
  const used = parts.reduce((sum, part) => sum + displayWidth(typeof part === 'string' ? part : part.text) + 1, 0)
  const painted = parts.map((part) => (typeof part === 'string' ? part : part.paint(part.text)))
  const room = width - displayWidth(lead) - used
  return `${lead}${painted.join(' ')} ${truncateToWidth(title, Math.max(0, room))}`.trimEnd()
}
