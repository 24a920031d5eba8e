import type { ScreenReading, ToolRunner } from '../../tools/index.js'
import type { LiveRun } from '../agent-run.js'
import { type Parts, pause } from '../parts.js'
import { dialogPrint } from '../talk/asks.js'
import { readScreenOf } from './screen-of.js'

const AGAIN_MS = 40
const MOST_LOOKS = 6
/** A program says that it asks before it has drawn what; until then nobody can say what is asked. */
const MOST_LOOKS_FOR_NEW = 25

/**
 * The reading of a screen whose dialog has been read twice the same: a dialog that is being drawn looks like another one. Its
 * dialog is left out when it does not come to rest. One that was seen before needs no second look. One that must come is waited for.
 */
export async function withSteadyDialog(
  parts: Parts,
  runner: ToolRunner,
  live: LiveRun,
  reading: ScreenReading,
  known: string | undefined,
  mustCome: boolean,
): Promise<ScreenReading> {
  let last = reading
  for (let look = 0; look < (mustCome ? MOST_LOOKS_FOR_NEW : MOST_LOOKS); look += 1) {
    const print = printIn(last)
    if ((print === undefined && !mustCome) || (print !== undefined && print === known)) return last
    await pause(AGAIN_MS)
    const terminal = await parts.terminals.of(live.socket)
    const next = await readScreenOf(runner, terminal, live).catch(() => undefined)
    if (!next) break
    if (print !== undefined && printIn(next) === print) return next
    last = next
  }
  const { dialog: _dialog, ...rest } = last
  return rest
}

const printIn = ({ dialog }: ScreenReading): string | undefined => dialog && dialogPrint(dialog)
