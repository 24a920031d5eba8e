import type { SessionHistory } from '../../home/index.js'
import { formatDuration, instantOf } from '../../model/index.js'
import type { TurnSnapshot, TurnState } from '../../operations/index.js'
import { card } from '../screen/card.js'
import { localAndRelativeTime } from '../screen/moment.js'
import { money } from '../screen/money.js'
import { plural } from '../screen/plural.js'
import type { Screen } from '../screen/screen.js'
import { changesView, linesOf } from './code-view.js'
import { turnTexts } from './turn-texts.js'
import { outcomeOf } from './turns-view.js'

const MOST_PATHS = 5

/** Everything about one turn: its facts, its words, and the files that it changed. */
export function turnCard(history: SessionHistory, state: TurnState, screen: Screen): string {
  const [turn] = history.turns
  if (!turn) return ''
  const { code_before: before, code_after: after, changes = [] } = state
  const { start } = before ?? {}
  const at = (time: string | undefined): string | undefined =>
    time === undefined ? undefined : localAndRelativeTime(instantOf(Date.parse(time)), screen.nowMs)
  const facts = card(
    [
      ['session', history.session.id],
      ['turn', state.number],
      ['pinned', state.is_pinned ? 'its snapshots are kept' : undefined],
      ['started', at(state.started_at)],
      ['time', state.duration_ms === undefined ? undefined : formatDuration(state.duration_ms)],
      ['outcome', outcomeOf(turn)],
      ['cost', costOf(state)],
      ['tool', [start?.tool, start?.tool_version].filter((word) => word !== undefined).join(' ')],
      ['model', start?.model],
      ['mode', start?.permission_mode],
      ['arguments', start?.arguments?.join(' ')],
      ['settings', start?.settings_hash?.slice(0, 16)],
      ['code before', before && placeOf(before)],
      ['code after', after && placeOf(after)],
      ['changed', state.files === undefined ? undefined : changedText(state)],
      ['not captured', pathsOf([before, after].flatMap((one) => one?.skipped.map(({ path }) => path) ?? []))],
      ['changed late', pathsOf([before, after].flatMap((one) => one?.late ?? []))],
      ['repositories inside', pathsOf(after?.nested.map(({ path }) => path) ?? [])],
      ['forks', state.forks.map(({ agent, session }) => agent ?? session.slice(0, 8)).join(', ')],
    ],
    screen,
  )
  return [facts, turnTexts(history, screen), ...(changes.length > 0 ? [changesView(changes, screen)] : [])].join('\n\n')
}

function costOf({ cost_micro_usd: micro_usd, unpriced_calls = 0 }: TurnState): string | undefined {
  return micro_usd === undefined ? undefined : money({ micro_usd, unpriced_calls })
}

const changedText = ({ files = 0, added = 0, removed = 0, head_moved }: TurnState): string =>
  [
    plural(files, 'file'),
    ...(files > 0 ? [linesOf({ added, removed })] : []),
    ...(head_moved ? ['HEAD moved'] : []),
  ].join(', ')

function placeOf({ head, branch, operation, mode, is_exact }: TurnSnapshot): string {
  const place = head === undefined ? 'no commit' : head.slice(0, 12)
  const how = [
    ...(branch === undefined ? [] : [branch]),
    ...(operation === undefined ? [] : [`in the middle of a ${operation}`]),
    ...(mode === 'partial' ? ['partial'] : []),
    ...(is_exact ? [] : ['not exact']),
  ]
  return how.length === 0 ? place : `${place} (${how.join(', ')})`
}

function pathsOf(all: readonly string[]): string | undefined {
  const paths = [...new Set(all)]
  if (paths.length === 0) return undefined
  const more = paths.length > MOST_PATHS ? `, and ${paths.length - MOST_PATHS} more` : ''
  return `${paths.slice(0, MOST_PATHS).join(', ')}${more}`
}
