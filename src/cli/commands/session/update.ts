import { repeated, text, usageError } from '../../../operations/index.js'
import { command } from '../../command.js'
import { namedOrCurrent, SESSION_ARGUMENT } from '../../input/session-argument.js'
import { FACT_OPTIONS, factsOf } from '../../input/session-facts.js'
import { safe } from '../../screen/safe-text.js'

export const update = command({
  name: 'session update',
  summary: 'Add or correct facts about a session',
  examples: [
    ['skein session update 5e8fa07b --title "Fix the login form" --branch login', 'A better title, and its branch'],
    ['skein session update 5e8fa07b --commit 4f2a91c --commit 9be07d3', 'Commits it made'],
  ],
  args: { session: SESSION_ARGUMENT },
  options: { ...FACT_OPTIONS, commit: repeated(text('hash'), 'A commit it made; earlier ones stay') },
  async run({ session: named, commit, ...given }, { home, out, currentSession }) {
    const facts = { ...factsOf(given), ...(commit.length > 0 ? { commits: commit } : {}) }
    if (Object.keys(facts).length === 0) {
      throw usageError(
        'Nothing to update',
        'Name what to change, for example --title. See: skein session update --help',
      )
    }
    const reference = namedOrCurrent(named, currentSession)
    const session = await (await home()).sessions.update(reference, facts)
    out.result(session, () => safe`Updated ${session.id}`)
  },
})
