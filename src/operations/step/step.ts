import type { Home } from '../../home/index.js'
import { isHooked, SkeinError } from '../../model/index.js'
import { flag, optional, required } from '../field.js'
import { sessionRef, text } from '../kind.js'
import { operation } from '../operation.js'
import { present } from '../present.js'

const STEP = required(text('step'), 'The step, as the plan names it')
const SESSION = required(sessionRef, 'The session, or the agent that is in it')

export const stepStart = operation({
  name: 'step.start',
  does: 'acts',
  where: 'either',
  summary: 'Begin a step of the work',
  description:
    'What the agent calls from now on belongs to the step. A unit on its hook is then in progress, if the session works on it.',
  input: { step: STEP, session: SESSION, molecule: optional(text('id'), 'The plan that the step belongs to') },
  result: 'session',
  async run({ step, session, molecule }, { home }) {
    const open = await home()
    const { id, work_unit } = await open.sessions.find(session)
    const after = await open.sessions.step(id, {
      step_ref: step,
      state: 'started',
      ...present({ molecule_id: molecule }),
    })
    if (work_unit !== undefined) await beginWork(open, work_unit)
    return after
  },
})

export const stepDone = operation({
  name: 'step.done',
  does: 'acts',
  where: 'either',
  summary: 'End a step of the work',
  description: 'Without a name it ends the one step that is open.',
  input: {
    step: optional(text('step'), 'The step, as the plan names it'),
    session: SESSION,
    failed: flag('It did not succeed'),
  },
  result: 'session',
  async run({ step, session, failed }, { home }) {
    const { sessions } = await home()
    const { id } = await sessions.find(session)
    return sessions.step(id, { ...present({ step_ref: step }), state: 'completed', success: !failed })
  },
})

/** A session may name work that is kept elsewhere. */
async function beginWork({ work }: Home, id: string): Promise<void> {
  try {
    if (isHooked(await work.show(id))) await work.begin(id)
  } catch (error) {
    if (!(error instanceof SkeinError && (error.code === 'work-not-found' || error.code === 'work-provider')))
      throw error
  }
}
