import type { Ask } from '../../model/index.js'
import { safeText } from '../screen/safe-text.js'
import type { Screen } from '../screen/screen.js'

/** Everything that an agent asks: all of it, with the options and the token that answers this one. */
export const asksView = (asks: readonly Ask[], screen: Screen): string =>
  asks.map((ask) => askView(ask, screen)).join('\n\n')

function askView({ kind, tool, what, options = [], token, is_queued }: Ask, { paint }: Screen): string {
  const head = [kind, ...(tool ? [tool] : []), ...(is_queued ? ['behind the one above'] : [])].map(safeText).join(', ')
  const lines = (what ?? '').split('\n').map((line) => `    ${safeText(line)}`)
  const choices = options.map(({ label, meaning }) => `  - ${safeText(label)}${meaningOf(meaning, paint.dim)}`)
  return [`Asks (${head}):`, ...(what ? lines : []), ...choices, paint.dim(`  --token ${safeText(token)}`)].join('\n')
}

const meaningOf = (meaning: string, dim: (text: string) => string): string =>
  meaning === 'other' ? '' : ` ${dim(`(${meaning})`)}`
