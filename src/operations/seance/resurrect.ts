import type { Resurrection } from '../../lifecycle/index.js'
import { optional, required } from '../field.js'
import { sessionRef, text } from '../kind.js'
import { operation } from '../operation.js'
import { present } from '../present.js'

export const resurrect = operation({
  name: 'resurrect',
  does: 'acts',
  where: 'either',
  summary: 'Bring back a session whose log its tool deleted',
  description:
    'Writes the log again from the archive, in the tool\'s own format and under the session\'s own id where the tool allows it; then "skein start --resume" goes on with it. With --tool another program gets the conversation, under a new id. Refused while the log is there. The archive holds what the privacy policy keeps, without thinking; what could not be carried over is listed.',
  input: {
    session: required(sessionRef, 'Id, beginning of an id, or agent'),
    tool: optional(text('tool'), 'The program that is to open it', { fallback: 'its own' }),
    model: optional(text('provider/model'), 'The model to name in the log, for opencode'),
  },
  result: 'resurrection',
  async run({ session, ...given }, { agents }): Promise<Resurrection> {
    return (await agents()).resurrect(session, present(given))
  },
})
