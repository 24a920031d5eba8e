import { command } from '../../command.js'
import { required } from '../../input/input.js'
import { sessionRef } from '../../input/value-kind.js'
import { sessionCard } from '../../views/session-card.js'

export const show = command({
  name: 'sessions show',
  summary: 'Show everything about one session',
  examples: [
    ['skein sessions show 0f3c9a12', 'By the beginning of its id'],
    ['skein sessions show 0f3c9a12 --json', 'As JSON'],
  ],
  args: { session: required(sessionRef, 'Id or unique beginning of an id') },
  options: {},
  async run({ session: reference }, { home, out }) {
    const session = await (await home()).sessions.find(reference)
    out.result(session, (screen) => sessionCard(session, screen))
  },
})
