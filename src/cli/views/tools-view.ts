import type { PlacedToolCall } from '../../operations/index.js'
import { localTime } from '../screen/moment.js'
import type { Screen } from '../screen/screen.js'
import { table } from '../screen/table.js'

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
      { header: 'STEP', text: (call) => call.step_ref ?? '', shrinkTo: 6 },
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
