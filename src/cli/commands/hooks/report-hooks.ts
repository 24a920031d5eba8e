import type { HookReport } from '../../../lifecycle/index.js'
import type { Output } from '../../screen/output.js'
import { safe } from '../../screen/safe-text.js'

const WORDS: Readonly<Record<HookReport['did'], string>> = {
  installed: 'installed in',
  updated: 'updated in',
  unchanged: 'already in',
  removed: 'removed from',
  absent: 'not in',
  refused: 'refused',
}

/** One line per program. What was refused makes the command fail. */
export function reportHooks(reports: readonly HookReport[], out: Output): void {
  out.result({ hooks: reports }, () =>
    reports.length === 0
      ? 'None of the programs was found. Name one: claude, codex, gemini, opencode, pi'
      : reports.map(lineOf).join('\n'),
  )
  if (reports.some(({ did }) => did === 'refused')) out.fails()
}

/** Some reasons name the file themselves. */
export const aboutFile = (path: string, because = ''): string =>
  because.includes(path) ? because : `${path} ${because}`

function lineOf({ tool, path, did, because, backup }: HookReport): string {
  if (did === 'refused') return safe`${tool}: refused, nothing was changed: ${aboutFile(path, because)}`
  const but = because ? safe`; it ${because}` : ''
  return safe`${tool}: ${WORDS[did] ?? did} ${path}` + (backup ? safe` (before: ${backup})` : '') + but
}
