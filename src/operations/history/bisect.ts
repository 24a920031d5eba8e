import type { Bisection } from '../../home/index.js'
import { duration } from '../duration.js'
import { flag, optional, required } from '../field.js'
import { count, place, text } from '../kind.js'
import { operation } from '../operation.js'
import { SESSION } from '../sessions/session-ref.js'

const LIMIT_MS = 600_000

export const bisect = operation({
  name: 'bisect',
  does: 'acts',
  where: 'either',
  summary: 'Find the first turn after which a command fails',
  description:
    'Runs the command with sh in a scratch worktree that shows the code after one turn after another, and halves the turns with each run. Your worktree, index, HEAD and branches are not touched. A command that ends with code 125 cannot tell, and its turn is skipped; so is a turn without a complete snapshot. What git ignores stays from one run to the next. Exits with 1 unless one turn is found.',
  input: {
    session: SESSION,
    run: required(text('command'), 'The command, for sh; code 0 means that the code is good'),
    good: optional(place, 'A turn after which it passes; 0 is before the first turn'),
    bad: optional(count, 'A turn after which it fails'),
    setup: optional(text('command'), 'Run this once before, in the same worktree; what it makes stays'),
    partial: flag('Use incomplete snapshots, too'),
    timeout: optional(duration, 'How long each run may take; a run that takes longer has failed', { fallback: '10m' }),
  },
  result: 'bisection',
  async run({ session, run, good, bad, setup, partial, timeout = LIMIT_MS }, { home, abandoned }): Promise<Bisection> {
    const opened = await home()
    const { env } = await opened.programs.environment()
    return opened.history.bisect({
      session,
      run,
      ...(setup === undefined ? {} : { setup }),
      ...(good === undefined ? {} : { good }),
      ...(bad === undefined ? {} : { bad }),
      partial,
      limitMs: timeout,
      env,
      signal: abandoned(),
    })
  },
})
