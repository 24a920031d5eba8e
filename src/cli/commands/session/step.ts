import { choice, flag, optional, present, required, text, usageError } from '../../../operations/index.js'
import { command } from '../../command.js'
import { namedOrCurrent, SESSION_ARGUMENT } from '../../input/session-argument.js'
import { safe } from '../../screen/safe-text.js'

export const step = command({
  name: 'session step',
  summary: 'Record a step of the plan',
  examples: [
    ['skein session step start build 5e8fa07b --molecule mol-7', 'A session begins a step'],
    ['skein session step complete design 5e8fa07b', 'It is done'],
    ['skein session step complete tests 5e8fa07b --failed', 'It was tried, and failed'],
  ],
  args: {
    action: required(choice('action', ['start', 'complete']), 'What happened to the step'),
    step: required(text('step'), 'The step, as the plan names it'),
    session: SESSION_ARGUMENT,
  },
  options: {
    molecule: optional(text('id'), 'With start: the plan that the step belongs to'),
    failed: flag('With complete: it did not succeed'),
  },
  async run({ action, step, session: named, molecule, failed }, { home, out, currentSession }) {
    if (action === 'start' && failed)
      throw usageError('--failed needs complete', 'A step that starts has not failed yet')
    if (action === 'complete' && molecule !== undefined) {
      throw usageError('--molecule needs start', 'A completed step keeps the plan it was started with')
    }
    const reference = namedOrCurrent(named, currentSession)
    const session = await (await home()).sessions.step(reference, {
      step_ref: step,
      ...(action === 'start' ? { state: 'started' } : { state: 'completed', success: !failed }),
      ...present({ molecule_id: molecule }),
    })
    const done = failed ? 'failed' : 'completed'
    out.result(session, () => safe`Step ${step} ${action === 'start' ? 'started' : done} in ${session.id}`)
  },
})
