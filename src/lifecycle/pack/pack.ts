import { closeSync, openSync } from 'node:fs'
import { basename, join } from 'node:path'
import { ScratchDirectory, sweepScratch, writeFully } from '../../disk/index.js'
import type { Snapshot } from '../../home/index.js'
import { type Session, type SessionId, SkeinError } from '../../model/index.js'
import { type Applied, redactValue } from '../../privacy/index.js'
import type { CarriedCode } from '../../snapshots/index.js'
import {
  type Conversation,
  conversationOf,
  hasWriter,
  keptTurns,
  type LeftOut,
  LOG_TOOLS,
  RESULT_CHARS,
  writerOf,
} from '../../tools/index.js'
import { nothingSaid } from '../fork/nothing-said.js'
import { nowOf, type Parts } from '../parts.js'
import { environmentFor } from '../run/account.js'
import { type CarriedSession, type PackContents, recordOf } from './carried-session.js'
import { type Member, memberIn, memberOf, refuseTaken, writePack } from './container.js'
import { type GivenPassphrase, passphraseOf } from './sealing.js'

export interface PackRequest extends GivenPassphrase {
  /** In the order of their chain. */
  sessions: readonly Session[]
  /** The last turn of the last session to carry; all of them by default. */
  turn?: number
  /** The file to write. An absolute path. */
  output: string
  /** Replace a file that is there. */
  force: boolean
  /** Carry the code of the turns. */
  code: boolean
  /** Unfiltered, secrets included. Only sealed. */
  verbatim: boolean
}

/** What was packed. */
export interface PackReport {
  file: string
  bytes: number
  sha256: string
  is_sealed: boolean
  is_verbatim: boolean
  sessions: { session: SessionId; tool?: string; turns: number; turn?: number }[]
  /** Snapshots of code that it has, and the moment that the last one shows. */
  snapshots: number
  code_as_of?: string
  /** How often each privacy rule was applied. */
  redactions: Applied
  left_out: LeftOut[]
}

/** Writes sessions with their words and code as one file. Only the file is made; the sessions stay as they are. */
export async function pack(parts: Parts, request: PackRequest): Promise<PackReport> {
  const { sessions, output, force, verbatim } = request
  const passphrase = passphraseOf(request)
  if (verbatim && passphrase === undefined)
    throw new SkeinError(
      'bad-input',
      'A verbatim pack has secrets in it, so it is only written sealed',
      'Give a passphrase: --passphrase-file <file>',
    )
  refuseTaken(output, force)
  const { members, carried, shown, applied, left } = await conversationsOf(parts, request)
  const nowMs = parts.context.clock.now()
  await sweepScratch(nowMs) // of packs that were killed
  using scratch = await ScratchDirectory.make()
  const last = sessions.at(-1)
  const code = request.code && last && shown ? await codeOf(parts, last, shown, join(scratch.path, 'code')) : undefined
  if (code) members.push(memberIn('code.bundle', join(scratch.path, 'code')))
  const contents: PackContents = {
    v: 1,
    made_at: nowOf(parts),
    is_verbatim: verbatim,
    sessions: carried,
    ...(code ? { code: code.carried } : {}),
  }
  const how = { replace: force, nowMs, ...(passphrase === undefined ? {} : { passphrase }) }
  const { bytes, sha256 } = await writePack(output, contents, members, how)
  return {
    file: output,
    bytes,
    sha256,
    is_sealed: passphrase !== undefined,
    is_verbatim: verbatim,
    sessions: carried.map(({ session, turns, turn }) => ({
      session: session.id,
      ...(session.tool === undefined ? {} : { tool: session.tool }),
      turns,
      ...(turn === undefined ? {} : { turn }),
    })),
    snapshots: code?.carried.snapshots.length ?? 0,
    ...(code ? { code_as_of: code.last.as_of } : {}),
    redactions: applied,
    left_out: [...left].map(([what, count]) => ({ what, count })),
  }
}

/** What was said in each session, as members of a pack. */
async function conversationsOf(parts: Parts, request: PackRequest) {
  const applied: Applied = {}
  const left = new Map<string, number>()
  const members: Member[] = []
  const carried: CarriedSession[] = []
  let shown: Shown | undefined
  for (const [n, session] of request.sessions.entries()) {
    const isLast = n === request.sessions.length - 1
    const said = await saidIn(parts, session, { ...request, isLast }, applied)
    for (const { what, count } of said.conversation.left_out) left.set(what, (left.get(what) ?? 0) + count)
    members.push(memberOf(`conversation-${n}.json`, `${JSON.stringify(said.conversation)}\n`))
    const native = await nativeOf(parts, session, said, request.verbatim)
    if (native) members.push(memberOf(`native-${n}`, native.content))
    carried.push({
      session: said.record,
      ...(said.turn === undefined ? {} : { turn: said.turn }),
      turns: said.conversation.turns.length,
      told_from: said.told_from,
      ...(await costOf(parts, session)),
      conversation: `conversation-${n}.json`,
      ...(native ? { native: { member: `native-${n}`, name: native.name, how: native.how } } : {}),
    })
    if (isLast) shown = said
  }
  return { members, carried, shown, applied, left }
}

interface Shown {
  conversation: Conversation
  record: CarriedSession['session']
  turn: number | undefined
  told_from: 'log' | 'archive'
}

/** The words of a session, as the policy of its directory leaves them unless they are carried verbatim. */
async function saidIn(
  { home, runs }: Parts,
  session: Session,
  { turn, verbatim, isLast }: PackRequest & { isLast: boolean },
  applied: Applied,
): Promise<Shown> {
  const read = { verbatim, resultChars: RESULT_CHARS }
  let logged = await home.history.turns(session.id, read)
  if (logged.told_from === 'counts') {
    await home.history.ingest({ session: session.id })
    logged = await home.history.turns(session.id, read)
  }
  const { told_from } = logged
  if (told_from === 'counts' || told_from === 'journal') throw nothingSaid(session, told_from)
  const through = isLast ? turn : undefined
  const kept = through === undefined ? undefined : keptTurns(logged, { turn: through, edge: 'after' })
  const numbers = kept && new Set(kept.map(({ number }) => number))
  const whole = conversationOf(logged, { tool: session.tool ?? 'another tool', session: session.id })
  const onWay = numbers
    ? conversationOf({ ...logged, turns: kept ?? [] }, { tool: whole.tool, session: session.id })
    : whole
  if (onWay.turns.length === 0) throw nothingSaid(session, told_from)
  const last = onWay.turns.at(-1)?.number
  const run = (await runs.all()).find(({ binding }) => binding?.session === session.id)
  const isAtWork = run?.status.status === 'running' && run.run?.ended_at === undefined
  if (isAtWork && last === logged.turns.at(-1)?.number)
    throw new SkeinError('turn-open', `Turn ${last} is still running`, 'Wait until it is done, or pack an earlier turn')
  const title = session.title ?? whole.title
  const titled = title === undefined ? onWay : { ...onWay, title }
  const record = recordOf(session)
  return {
    conversation: verbatim ? titled : (redactValue(titled, applied) as Conversation),
    record: verbatim ? record : (redactValue(record, applied) as typeof record),
    turn: last,
    told_from,
  }
}

/** The log of the session's own program: a copy up to the turn, or one that is written from what the policy leaves. */
async function nativeOf(
  parts: Parts,
  { id, tool: name }: Session,
  { conversation, turn }: Shown,
  verbatim: boolean,
): Promise<{ name: string; content: string; how: 'cut' | 'written' } | undefined> {
  const tool = LOG_TOOLS.find((one) => one.name === name)
  if (!tool || turn === undefined) return undefined
  const cwd = conversation.cwd ?? '/'
  const now = nowOf(parts)
  try {
    if (verbatim) {
      const run = (await parts.runs.all()).find(({ binding }) => binding?.session === id)
      const environment = run && run.recipe.tool === name ? environmentFor(parts, run.recipe) : parts.environment
      const ref = tool.discover(environment).find((log) => log.session === id && log.agent === undefined)
      const cut = ref && (await tool.cut?.(ref, { turn, edge: 'after' }, { session: id, cwd, environment, now }))
      const [file] = cut?.files ?? []
      return file && { name: basename(file.path), content: file.content, how: 'cut' }
    }
    if (!hasWriter(tool.name)) return undefined
    const target = { session: id, cwd, environment: parts.environment, model: NO_MODEL, now }
    const [file] = writerOf(tool.name).write(conversation, target).files
    return file && { name: basename(file.path), content: file.content, how: 'written' }
  } catch (error) {
    // The conversation is carried all the same, in the form that every tool's log can be written from.
    if (error instanceof SkeinError) return undefined
    throw error
  }
}

/** For a tool whose log has to name one. Whoever unpacks it writes the log again. */
const NO_MODEL = 'none/none'

/** The code at both ends of every turn that is carried. The last turn must have its own. */
async function codeOf(
  { home }: Parts,
  { id }: Session,
  { conversation, turn = 0 }: Shown,
  file: string,
): Promise<{ carried: CarriedCode; last: Snapshot }> {
  const wanted = new Set(conversation.turns.map(({ number }) => number))
  const coded = (await home.history.codedTurns(id)).filter((one) => wanted.has(one.turn))
  const last = coded.find((one) => one.turn === turn)?.after
  if (!last) {
    const message = `There is no snapshot of the files at the end of turn ${turn}`
    throw new SkeinError('snapshot-not-found', message, 'Pack the conversation alone: --chat-only')
  }
  const before = coded.flatMap((one) => [one.before, one.after]).filter((one) => one !== undefined)
  const all = [...before.filter(({ commit }) => commit !== last.commit), last]
  const output = openSync(file, 'wx', 0o600)
  try {
    return { carried: await home.snapshots.bundle(all, (bytes) => writeFully(output, bytes)), last }
  } finally {
    closeSync(output)
  }
}

async function costOf({ home }: Parts, { id }: Session): Promise<Pick<CarriedSession, 'cost'>> {
  const spent = (await home.history.spent([id])).get(id)
  if (!spent) return {}
  const { calls, micro_usd, unpriced_calls } = spent
  return { cost: { calls, micro_usd, unpriced_calls } }
}
