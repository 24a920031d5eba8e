import { missingLog } from '../../interchange/index.js'
import { SkeinError } from '../../model/index.js'
import { count, defaulted, documentOf, type Kind, optional, required, sessionRef } from '../../operations/index.js'
import { command } from '../command.js'
import { play } from '../replay/play.js'
import { FASTEST, playbackFrom, SLOWEST } from '../replay/playback.js'
import { plainLines, scriptOf } from '../replay/script.js'
import { plural } from '../screen/plural.js'
import { noteMissingLog } from '../views/missing-log.js'

const speedOfPlay: Kind<number> = {
  placeholder: '<speed>',
  parse: (given) => {
    const speed = /^\d{1,3}(\.\d{1,3})?$/.test(given) ? Number(given) : 0
    if (speed >= SLOWEST && speed <= FASTEST) return speed
    const message = `${JSON.stringify(given)} is not a speed from ${SLOWEST} to ${FASTEST}`
    throw new SkeinError('usage', message, 'Write it like 2 or 0.5')
  },
}

export const replay = command({
  name: 'replay',
  summary: 'Play a session in the terminal, turn by turn',
  description:
    'Keys: space pauses, s (or Enter) steps to the next prompt, call or reply, n and p go to the next and the previous turn, + and - change the speed, q quits. To a pipe, prints the turns without waiting. Filters for privacy like an export.',
  examples: [
    ['skein replay 22222222', 'From the first turn'],
    ['skein replay 22222222 --from 3 --speed 4', 'From the third turn, four times as fast'],
  ],
  args: { session: required(sessionRef, 'The beginning of its id, or its agent') },
  options: {
    from: optional(count, 'The turn to begin with'),
    speed: defaulted(speedOfPlay, 1, 'How fast: 2 is twice as fast'),
  },
  async run({ session, from = 1, speed }, cli) {
    const { out } = cli
    const home = await cli.home()
    const document = await documentOf(home, [await home.sessions.find(session)], cli)
    const [exported] = document.sessions
    if (!exported) return
    const last = exported.turns.at(-1)?.number ?? 0
    if (last > 0 && from > last)
      throw new SkeinError('bad-input', `The session has ${plural(last, 'turn')}`, `Use --from 1 to ${last}`)
    const turns = exported.turns.filter((turn) => turn.number >= from)
    const script = scriptOf(exported)
    const taken = out.json || turns.length === 0 ? undefined : cli.terminal()
    if (taken) {
      const signal = cli.interrupted() // first of all: a signal must find somebody who gives the terminal back
      using terminal = await taken
      const start = playbackFrom(exported.turns.length - turns.length, speed)
      await play(script, { terminal, paint: out.screen.paint, start, signal })
      noteMissingLog(exported, out)
      return
    }
    const shown = { ...document, sessions: [{ ...exported, turns }] }
    out.result(shown, () =>
      [missingLog(exported) ?? '', ...script.slice(script.length - turns.length).flatMap(plainLines)].join('\n').trim(),
    )
  },
})
