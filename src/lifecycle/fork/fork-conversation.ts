import { execFile } from 'node:child_process'
import { rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { isThere } from '../../disk/index.js'
import { type SessionId, SkeinError } from '../../model/index.js'
import { checkCut, type Environment, findProgram, hasWriter, placeCut } from '../../tools/index.js'
import { nowOf, type Parts } from '../parts.js'
import { environmentFor } from '../run/account.js'
import type { ForkPlan } from './fork-plan.js'

const IMPORT_MS = 120_000

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

/** Brings the conversation to where the new agent finds it. `place` hears of every file before it is written. */
export async function forkConversation(
  parts: Parts,
  plan: ForkPlan,
  target: { session: SessionId; cwd: string },
  place: (files: readonly string[]) => void,
): Promise<ForkedConversation> {
  const { request, session, recipe, kept } = plan
  const none: ForkedConversation = { turns: 0, how: 'new', left_out: [] }
  if (!request.chat || kept.length === 0) return none
  const source = plan.log?.tool.name ?? session.tool
  if (recipe.tool === source && plan.log?.tool.cut) return cutFor(parts, plan, target, place)
  if (hasWriter(recipe.tool)) return writtenFor(parts, plan, target, place)
  return { ...none, how: 'context', context: await contextOf(parts, plan) }
}

async function cutFor(
  parts: Parts,
  { log, request, recipe }: ForkPlan,
  { session, cwd }: { session: SessionId; cwd: string },
  place: (files: readonly string[]) => void,
): Promise<ForkedConversation> {
  if (!log?.tool.cut) throw new Error('no log to cut')
  const { tool, ref } = log
  const environment = environmentFor(parts, recipe)
  const cut = await tool.cut?.(ref, request, { session, cwd, environment, now: nowOf(parts) })
  if (!cut) throw new Error('no cut')
  // What is there already is the user's: it is not replaced, and not removed when the fork is taken back.
  place(cut.files.map(({ path }) => path).filter((path) => !isThere(path)))
  const placed = placeCut(tool, ref, request, cut)
  if (cut.import) {
    try {
      await run(cut.import.argv, cut.import.cwd, environment)
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
  { session, recipe, kept }: ForkPlan,
  target: { session: SessionId; cwd: string },
  place: (files: readonly string[]) => void,
): Promise<ForkedConversation> {
  const { writeConversation } = await import('./written-conversation.js')
  const through = kept.at(-1)?.number
  const request = {
    tool: recipe.tool,
    ...target,
    ...(recipe.account === undefined ? {} : { account: recipe.account }),
    ...(recipe.model === undefined ? {} : { model: recipe.model }),
    ...(through === undefined ? {} : { through }),
  }
  const written = await writeConversation(parts, session, request, (path) => place([path]))
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

/** Without a shell, in the user's environment. */
function run(argv: readonly [string, ...string[]], cwd: string, environment: Environment): Promise<void> {
  const [name, ...args] = argv
  const program = findProgram(name, environment)
  if (!program) throw new SkeinError('bad-input', `${name} is not installed, or not in PATH`, `Install ${name}`)
  const env = Object.fromEntries(Object.entries(environment.env).filter(([, value]) => value !== undefined))
  const options = { cwd, env: { ...env, PATH: `${dirname(program.path)}:${env.PATH ?? ''}` }, timeout: IMPORT_MS }
  return new Promise((resolve, reject) => {
    execFile(program.path, args, { ...options, killSignal: 'SIGKILL' }, (error, _stdout, stderr) => {
      if (!error) resolve()
      else reject(notImported(argv, error.killed ? 'it took too long' : stderr.trim().slice(-300) || error.message))
    }).stdin?.end()
  })
}

const notImported = (argv: readonly string[], because: string): SkeinError =>
  new SkeinError(
    'cut-differs',
    `The conversation was not taken over: ${argv.slice(0, 2).join(' ')} failed: ${because}`,
    'Run the program once by hand to see whether it works, then try again',
  )
