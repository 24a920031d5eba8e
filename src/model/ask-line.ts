import type { AgentStatus, Ask } from './status.js'

const MOST = 160

/**
 * What is asked, in one line: `Bash: rm -rf build`. Of a long one both ends are shown, since what matters may be at either. It is
 * the agent's text, so who prints it makes it safe for where it goes.
 */
export function askLine({ tool, kind, what }: Pick<Ask, 'tool' | 'kind' | 'what'>, most = MOST): string {
  const text = (what ?? '')
    .split(/[\n\r\u2028\u2029]+/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join(' ⏎ ')
  const name = tool ?? (kind === 'permission' ? 'permission' : kind)
  return text === '' ? name : `${name}: ${shortened(text, most)}`
}

/** Everything that is asked, the one in front first. */
export const asksLine = (asks: readonly Ask[], most = MOST): string => asks.map((ask) => askLine(ask, most)).join('; ')

/** Why an agent has its status, for people: what it asks, where that is known. */
export const shownReason = ({ asks = [], reason }: Pick<AgentStatus, 'asks' | 'reason'>): string | undefined =>
  asks.some(({ what }) => what !== undefined) ? asksLine(asks) : reason

function shortened(text: string, most: number): string {
  const characters = [...text]
  if (characters.length <= most) return text
  const tail = Math.floor(most / 3)
  return `${characters.slice(0, most - tail - 3).join('')} … ${characters.slice(-tail).join('')}`
}
