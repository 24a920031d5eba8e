import { type ExportDocument, type ExportedSession, missingLog } from '../../interchange/index.js'
import { SkeinError } from '../../model/index.js'
import {
  count,
  defaulted,
  documentOf,
  flag,
  type Kind,
  ofStep,
  optional,
  required,
  STEP,
  sessionRef,
  sessionsNamed,
  usageError,
} from '../../operations/index.js'
import { type Cli, command } from '../command.js'
import { play } from '../replay/play.js'
import { FASTEST, playbackFrom, SLOWEST } from '../replay/playback.js'
import { type Piece, plainLines, scriptOf } from '../replay/script.js'
import { plural } from '../screen/plural.js'
import { safe } from '../screen/safe-text.js'
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
    ['skein replay 22222222 --step read', 'Only a step of the work'],
    ['skein replay wk-42', 'Every session of a unit of work, one after the other'],
    ['skein replay 22222222 --from 3 --speed 4', 'From the third turn, four times as fast'],
  ],
  args: { session: required(sessionRef, 'The beginning of its id, its agent, or a unit of work') },
  options: {
    from: optional(count, 'The turn to begin with'),
    chain: flag('The whole chain that the session belongs to'),
    step: STEP,
    speed: defaulted(speedOfPlay, 1, 'How fast: 2 is twice as fast'),
  },
  async run({ session, from, chain, step, speed }, cli) {
    const { out } = cli
    const home = await cli.home()
    const sessions = ofStep(await sessionsNamed(home, session, chain), step)
    const document = await documentOf(home, sessions, cli, step)
    const [exported, ...others] = document.sessions
    if (!exported) return
    if (others.length > 0) return playAll(document.sessions, { document, from, speed }, cli)
    const last = exported.turns.at(-1)?.number ?? 0
    const first = from ?? 1
    if (last > 0 && first > last)
      throw new SkeinError('bad-input', `The session has ${plural(last, 'turn')}`, `Use --from 1 to ${last}`)
    const turns = exported.turns.filter((turn) => turn.number >= first)
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

/** Sessions one after the other, each under its id. */
async function playAll(
  sessions: readonly ExportedSession[],
  { document, from, speed }: { document: ExportDocument; from: number | undefined; speed: number },
  cli: Cli,
): Promise<void> {
  const { out } = cli
  if (from !== undefined) throw usageError('--from needs one session', 'Turns are counted in each session by itself')
  const script = sessions.flatMap((one) => {
    const nothing = { number: 0, pieces: [{ kind: 'remark' as const, lines: ['No turns', ''], ms: 300 }], ms: 300 }
    const [first = nothing, ...rest] = scriptOf(one)
    const head: Piece = { kind: 'step', lines: [safe`== session ${one.session.id}`, ''], ms: 300 }
    return [{ ...first, pieces: [head, ...first.pieces], ms: first.ms + head.ms }, ...rest]
  })
  const taken = out.json || script.length === 0 ? undefined : cli.terminal()
  if (!taken) return out.result(document, () => script.flatMap(plainLines).join('\n').trim())
  const signal = cli.interrupted()
  using terminal = await taken
  await play(script, { terminal, paint: out.screen.paint, start: playbackFrom(0, speed), signal })
}
