import type { Step } from '../../../model/index.js'
import { stepDone } from '../../../operations/index.js'
import { sessionOf } from '../../input/own-agent.js'
import { operationCommand } from '../../operation-command.js'
import { safe } from '../../screen/safe-text.js'
import { STEP_SESSION } from './start.js'

export const done = operationCommand(stepDone, {
  name: 'step done',
  examples: [['skein step done design --session 5e8fa07b', 'It is done']],
  args: ['step'],
  fields: { session: STEP_SESSION },
  prepare: ({ session, ...typed }, cli) => ({ ...typed, session: sessionOf(session, cli) }),
  view: ({ id, steps = [] }, _, { step = lastOf(steps), failed }) =>
    safe`Step ${step} ${failed ? 'failed' : 'completed'} in ${id}`,
})

/** The step that ended last: the one that was meant. */
const lastOf = (steps: readonly Step[]): string => {
  const ended = steps.filter(({ completed_at }) => completed_at !== undefined)
  return ended.sort((a, b) => ((a.completed_at ?? '') < (b.completed_at ?? '') ? -1 : 1)).at(-1)?.step_ref ?? ''
}
