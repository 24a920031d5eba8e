import { rmSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { statOf } from '../../disk/index.js'
import { SkeinError } from '../../model/index.js'
import { MOST_READ_WHOLE } from '../log/document-log.js'
import { foldSession } from '../log/fold.js'
import type { LogRef, LogTool } from '../log/log-tool.js'
import { placeNew } from '../log/place-new.js'
import type { LoggedTurn } from '../log/turn.js'
import type { Cut, CutPoint, CutTarget } from './cut.js'
import { keptTurns } from './cut-point.js'

/** The conversation up to a turn; undefined where the logs of a tool cannot be cut. */
export async function cutLog(tool: LogTool, log: LogRef, at: CutPoint, target: CutTarget): Promise<Cut | undefined> {
  try {
    return await tool.cut?.(log, at, target)
  } catch (error) {
    // Neither a text of half a gigabyte nor a value in ten thousand others can be written as JSON.
    if (!(error instanceof RangeError)) throw error
    const what = `${log.path} has a record that is nested too deeply, or is too long, to be copied`
    throw new SkeinError('bad-input', what, 'Start a new conversation: --code-only', { cause: error })
  }
}

/**
 * Writes the files of a cut, readable by their user alone, and gives back which. What was written is read again first: unless it says what
 * the source says up to the turn, nothing is placed. No file that exists is replaced.
 */
export function placeCut(tool: LogTool, source: LogRef, at: CutPoint, cut: Cut): string[] {
  const placed: string[] = []
  try {
    for (const [index, { path, content, onlyIfAbsent }] of cut.files.entries()) {
      if (onlyIfAbsent && statOf(path)) continue
      placeNew(path, content, (written) => {
        const copy = { ...source, path: written, session: cut.session, size: content.length, stamp: written }
        // A document that is too long to be read whole is compared as the program has taken it in.
        const isReadWhole = !cut.import || Buffer.byteLength(content) <= MOST_READ_WHOLE
        if (index === 0 && isReadWhole) checkCut(tool, source, at, cut, copy)
      })
      placed.push(path)
    }
    return placed
  } catch (error) {
    for (const path of placed) rmSync(path, { force: true })
    throw error
  }
}

/** Compares what a copy says with what its source says. */
export function checkCut(tool: LogTool, source: LogRef, at: CutPoint, { session, says }: Cut, copy: LogRef): void {
  const wanted = (says ?? keptTurns(foldSession([tool.read(source)]), at)).map(words)
  const read = foldSession([tool.read(copy)])
  const got = read.turns.filter(({ live }) => live).map(words)
  if (read.news.id === session && isDeepStrictEqual(got, wanted)) return
  const first = wanted.findIndex((turn, index) => !isDeepStrictEqual(turn, got[index]))
  const which = first < 0 ? '' : `; turn ${first + 1} differs`
  const what = `The copy of the conversation has ${got.length} turns instead of ${wanted.length}${which}`
  throw new SkeinError('cut-differs', what, 'Nothing was changed. Start a new conversation: --code-only')
}

/** What was said and done in a turn, whoever tells it. */
const words = ({ prompt, remarks = [], reply, tool_calls }: LoggedTurn) => ({
  prompt,
  said: [...remarks.map(({ text }) => text), reply],
  calls: tool_calls.map(({ name, arguments: given, result, success }) => ({ name, given, result, success })),
})
