import { rmSync } from 'node:fs'
import { isThere } from '../../disk/index.js'
import type { SessionId } from '../../model/index.js'
import { checkCut, cutLog, hasWriter, placeCut } from '../../tools/index.js'
import { nowOf, type Parts } from '../parts.js'
import { environmentFor } from '../run/account.js'
import type { ForkPlan } from './fork-plan.js'
import { notImported, outputOf } from './import-conversation.js'

/** The conversation that a fork goes on with. */
export interface ForkedConversation {
  turns: number
  /**
   * `cut`: as the source's own program wrote it. `written`: in the form of another program. `context`: what it was about, as text for the
   * first prompt. `new`: none.
   */
  how: 'cut' | 'written' | 'context' | 'new'
  left_out: { what: string; count: number }[]
  context?: string
}

/** What is about to be made: files, or a session in the store of a program. */
export interface Placing {
  files?: readonly string[]
  imported?: { tool: string; session: SessionId }
}

/** Brings the conversation to where the new agent finds it. `place` hears of everything before it is made. */
export async function forkConversation(
  parts: Parts,
  plan: ForkPlan,
  target: { session: SessionId; cwd: string },
  place: (made: Placing) => void,
): Promise<ForkedConversation> {
  const { request, session, recipe, kept } = plan
  const none: ForkedConversation = { turns: 0, how: 'new', left_out: [] }
  if (!request.chat || kept.length === 0) return none
  const source = plan.log?.tool.name ?? session.tool
  if (recipe.tool === source && plan.log?.tool.cut) return cutFor(parts, plan, target, place)
  if (hasWriter(recipe.tool)) return writtenFor(parts, plan, target, place)
  const context = await contextOf(parts, plan)
  if (context === '') return { ...none, left_out: [{ what: 'turns', count: kept.length }] }
  return { ...none, how: 'context', context }
}

async function cutFor(
  parts: Parts,
  { log, request, recipe }: ForkPlan,
  { session, cwd }: { session: SessionId; cwd: string },
  place: (made: Placing) => void,
): Promise<ForkedConversation> {
  if (!log?.tool.cut) throw new Error('no log to cut')
  const { tool, ref } = log
  const environment = environmentFor(parts, recipe)
  const cut = await cutLog(tool, ref, request, { session, cwd, environment, now: nowOf(parts) })
  if (!cut) throw new Error('no cut')
  // What is there already is the user's: it is not replaced, and not removed when the fork is taken back.
  place({
    files: cut.files.map(({ path }) => path).filter((path) => !isThere(path)),
    ...(cut.import ? { imported: { tool: tool.name, session: cut.session } } : {}),
  })
  const placed = placeCut(tool, ref, request, cut)
  if (cut.import) {
    try {
      await outputOf(cut.import.argv, cut.import.cwd, environment, request.signal)
    } finally {
      for (const path of placed) rmSync(path, { force: true })
    }
    const copy = tool.discover(environment).find((one) => one.session === cut.session)
    if (!copy) throw notImported(cut.import.argv, 'the session is not there afterwards')
    checkCut(tool, ref, request, cut, copy)
  }
  return { turns: cut.turns, how: 'cut', left_out: [] }
}

/** In the form of another program, or of its own where the log is gone and the archive has the words. */
async function writtenFor(
  parts: Parts,
  { request: { signal }, session, recipe, kept }: ForkPlan,
  target: { session: SessionId; cwd: string },
  place: (made: Placing) => void,
): Promise<ForkedConversation> {
  const { writeConversation } = await import('./written-conversation.js')
  const through = kept.at(-1)?.number
  const request = {
    tool: recipe.tool,
    ...target,
    ...(recipe.account === undefined ? {} : { account: recipe.account }),
    ...(recipe.model === undefined ? {} : { model: recipe.model }),
    ...(through === undefined ? {} : { through }),
    ...(signal === undefined ? {} : { signal }),
  }
  const written = await writeConversation(parts, session, request, place)
  return { turns: written.turns, how: 'written', left_out: written.left_out }
}

/** What was said up to the turn, in a few lines, for a program whose log cannot be cut. */
async function contextOf({ home }: Parts, { session, kept }: ForkPlan): Promise<string> {
  const [{ digestOf }, { digestText }] = await Promise.all([
    import('../handoff/digest.js'),
    import('../handoff/digest-text.js'),
  ])
  const wanted = new Set(kept.map(({ number }) => number))
  const text = await home.history.facts(
    session.id,
    (facts, { kept: filter }) => {
      const upTo = [...facts].filter((fact) => !('turn' in fact) || wanted.has(fact.turn))
      return digestText(digestOf(upTo, filter))
    },
    session.cwd === undefined ? {} : { cwd: session.cwd },
  )
  return text ?? ''
}
