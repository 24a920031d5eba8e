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

/** Parts that do not fit are left out from the end; the first always stays. */
function line(lead: string, { parts, title = '' }: Branch, { width }: Screen): string {
  let room = width - displayWidth(lead)
  let drawn = lead
  for (const [at, part] of parts.entries()) {
    const { text, paint } = typeof part === 'string' ? { text: part, paint: undefined } : part
    const needed = displayWidth(text) + (at === 0 ? 0 : 1)
    if (at > 0 && needed > room) return drawn
    drawn += `${at === 0 ? '' : ' '}${paint ? paint(text) : text}`
    room -= needed
  }
  return title === '' || room < 2 ? drawn : `${drawn} ${truncateToWidth(title, room - 1)}`
}
