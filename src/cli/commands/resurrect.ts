import { resurrect as operation } from '../../operations/index.js'
import { operationCommand } from '../operation-command.js'
import { safe } from '../screen/safe-text.js'

export const resurrect = operationCommand(operation, {
  name: 'resurrect',
  examples: [
    ['skein resurrect 22222222', 'Write its log again, from the archive'],
    ['skein resurrect 22222222 --tool codex', 'For another program'],
  ],
  args: ['session'],
  show({ session, tool, turns, from, left_out }, { out }) {
    out.text(
      safe`Wrote ${session.id} for ${tool}: ${String(turns)} turns from the ${from}. Resume it: skein start --resume ${session.id}`,
    )
    for (const { what, count } of left_out) out.note(safe`Not carried over: ${what} (${String(count)})`)
  },
})
