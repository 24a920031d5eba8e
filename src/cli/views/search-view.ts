import type { SearchHit } from '../../home/index.js'
import { localTime } from '../screen/moment.js'
import { safeText } from '../screen/safe-text.js'
import type { Screen } from '../screen/screen.js'

/** Two lines per hit: the command that shows more, with the turn it was said in, and what was said. */
export function searchView(hits: readonly SearchHit[], screen: Screen): string {
  return hits.map((hit) => `${headOf(hit, screen)}\n  ${snippetOf(hit, screen)}`).join('\n')
}

function headOf(hit: SearchHit, { paint }: Screen): string {
  const who = hit.sub_agent === undefined ? '' : `, sub-agent ${safeText(hit.sub_agent)}`
  const where = hit.tool_name === undefined ? WHERE[hit.in] : safeText(hit.tool_name)
  const turn = hit.in === 'titles' ? '' : `turn ${hit.turn}${who}  `
  return `${paint.cyan(safeText(hit.next))}  ${turn}${paint.dim(`${where}, ${localTime(hit.at)}`)}`
}

const WHERE = { prompts: 'prompt', replies: 'reply', tools: 'tool', titles: 'title' } as const

function snippetOf({ snippet, marks }: SearchHit, { paint }: Screen): string {
  let drawn = ''
  let from = 0
  for (const [start, end] of marks) {
    drawn += safeText(snippet.slice(from, start)) + paint.yellow(paint.bold(safeText(snippet.slice(start, end))))
    from = end
  }
  return drawn + safeText(snippet.slice(from))
}
