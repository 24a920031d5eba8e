import type { SearchHit } from '../../home/index.js'
import { localTime } from '../screen/moment.js'
import { safeText } from '../screen/safe-text.js'
import type { Screen } from '../screen/screen.js'

/** Per hit: the command that shows the turn it was said in, which session that is, and what was said. */
export function searchView(hits: readonly SearchHit[], screen: Screen): string {
  return hits
    .map((hit) => [headOf(hit, screen), ...placeOf(hit, screen), `  ${snippetOf(hit, screen)}`].join('\n'))
    .join('\n')
}

function headOf(hit: SearchHit, { paint }: Screen): string {
  const who = hit.sub_agent === undefined ? '' : `, sub-agent ${safeText(hit.sub_agent)}`
  const where = hit.tool_name === undefined ? WHERE[hit.in] : safeText(hit.tool_name)
  const turn = hit.in === 'titles' || who === '' ? '' : `turn ${hit.turn}${who}  `
  return `${paint.cyan(safeText(hit.next))}  ${turn}${paint.dim(`${where}, ${localTime(hit.at)}`)}`
}

/** Title, agent and directory, as far as they are known. */
function placeOf({ title, agent, cwd }: SearchHit, { paint }: Screen): string[] {
  const known = [title, agent, cwd].flatMap((text) => (text ? [safeText(text)] : []))
  return known.length === 0 ? [] : [`  ${paint.dim(known.join('  '))}`]
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
