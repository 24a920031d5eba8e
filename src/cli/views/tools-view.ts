import type { SessionHistory } from '../../home/index.js'
import type { LoggedToolCall, LoggedTurn } from '../../tools/index.js'
import { localTime } from '../screen/moment.js'
import type { Screen } from '../screen/screen.js'
import { table } from '../screen/table.js'

/** A tool call where it happened: in which turn, and how deep inside sub-agents. */
export interface PlacedToolCall extends Omit<LoggedToolCall, 'sub_agent'> {
  turn: number
  /** The sub-agent that called it. */
  agent?: string
  depth: number
}

export function toolCallsOf({ turns, before, sub_agents }: SessionHistory): PlacedToolCall[] {
  return [...(before ? [before] : []), ...turns, ...sub_agents].flatMap((turn) => callsIn(turn, turn.number, 0))
}

/** Calls of sub-agents belong to the turn of the call that started them. */
function callsIn(turn: LoggedTurn, number: number, depth: number): PlacedToolCall[] {
  return turn.tool_calls.flatMap(({ sub_agent, ...call }) => [
    { ...call, turn: number, ...(turn.agent ? { agent: turn.agent } : {}), depth },
    ...(sub_agent ?? []).flatMap((inner) => callsIn(inner, number, depth + 1)),
  ])
}

export function toolsView(calls: readonly PlacedToolCall[], screen: Screen): string {
  if (calls.length === 0) return ''
  return table(
    calls,
    [
      { header: 'TURN', text: (call) => String(call.turn), align: 'right', paint: (paint) => paint.cyan },
      { header: 'STARTED', text: (call) => (call.started_at ? localTime(call.started_at) : '') },
      { header: 'TOOL', text: (call) => '  '.repeat(call.depth) + call.name, shrinkTo: 8 },
      {
        header: 'TIME',
        text: (call) => (call.duration_ms === undefined ? '' : `${(call.duration_ms / 1000).toFixed(1)}s`),
        align: 'right',
      },
      { header: 'RESULT', text: resultOf, paint: (paint, call) => (call.success === false ? paint.red : paint.dim) },
      { header: 'ARGUMENTS', text: (call) => argumentsOf(call), shrinkTo: 16 },
    ],
    screen,
  )
}

function resultOf({ success }: PlacedToolCall): string {
  if (success === undefined) return 'open'
  return success ? 'ok' : 'failed'
}

const argumentsOf = (call: PlacedToolCall): string =>
  Object.entries(call.arguments)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ')
