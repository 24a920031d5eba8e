import { join } from 'node:path'
import { ScratchDirectory, statOf, writeAtomic } from '../../disk/index.js'
import { readJson, type SessionId, SkeinError } from '../../model/index.js'
import {
  type Conversation,
  cutLog,
  foldSession,
  type LeftOut,
  LOG_TOOLS,
  type LogRef,
  placeNew,
} from '../../tools/index.js'
import type { Placing } from '../fork/fork-conversation.js'
import { placeConversation } from '../fork/written-conversation.js'
import { nowOf, type Parts } from '../parts.js'
import { environmentFor } from '../run/account.js'
import { type CarriedSession, conversationIn } from './carried-session.js'
import type { PackFile } from './container.js'
import type { MovedPaths } from './moved-paths.js'

const MOST_CONVERSATION = 512 * 1024 * 1024

interface UnpackedConversation {
  turns: number
  /** `cut`: the lines of the program's own log. `written`: made from the words. */
  how: 'cut' | 'written'
  left_out: LeftOut[]
}

/** Brings the conversation to where the program finds it, with the paths of the new directory. `place` hears of files before they are written. */
export async function unpackConversation(
  parts: Parts,
  pack: PackFile,
  carried: CarriedSession,
  target: { tool: string; session: SessionId; cwd: string },
  moved: MovedPaths,
  place: (made: Placing) => void,
): Promise<UnpackedConversation> {
  const isOwn = carried.native?.how === 'cut' && carried.session.tool === target.tool
  const copied = isOwn ? await copyNative(parts, pack, carried, target, moved, place) : undefined
  if (copied) return copied
  const { turns, left_out } = await placeConversation(parts, spokenIn(pack, carried, moved), target, place)
  return { turns, how: 'written', left_out }
}

/** What was said in a session of a pack, with the paths of the new directory. */
export function spokenIn(pack: PackFile, { conversation: member }: CarriedSession, moved: MovedPaths): Conversation {
  const conversation = conversationIn(readJson(pack.text(member, MOST_CONVERSATION)), member)
  return { ...conversation, turns: moved.value(conversation.turns) }
}

/** The log as its program wrote it, under a new id. Undefined for a program that only takes conversations by importing them. */
async function copyNative(
  parts: Parts,
  pack: PackFile,
  { native, session: source }: CarriedSession,
  { tool: name, session, cwd }: { tool: string; session: SessionId; cwd: string },
  moved: MovedPaths,
  place: (made: Placing) => void,
): Promise<UnpackedConversation | undefined> {
  const tool = LOG_TOOLS.find((one) => one.name === name)
  if (!native || !tool?.cut) return undefined
  using scratch = await ScratchDirectory.make()
  const path = join(scratch.path, native.name)
  writeAtomic(path, moved.log(pack.text(native.member, MOST_CONVERSATION)), { durable: false })
  const log = tool.logAt(path, source.id)
  const last = log && foldSession([tool.read(log)]).turns.findLast(({ live }) => live)
  if (!log || !last) throw differs(name)
  const environment = environmentFor(parts, { tool: name, cwd })
  const at = { turn: last.number, edge: 'after' as const }
  const cut = await cutLog(tool, log, at, { session, cwd, environment, now: nowOf(parts) })
  if (!cut || cut.import) return undefined
  for (const [n, { path: to, content, onlyIfAbsent }] of cut.files.entries()) {
    const check = (written: string): void => {
      const copy: LogRef = { ...log, path: written, session: cut.session, size: content.length, stamp: written }
      const read = foldSession([tool.read(copy)])
      if (read.news.id !== cut.session || read.turns.filter(({ live }) => live).length !== cut.turns)
        throw differs(name)
    }
    if (onlyIfAbsent && statOf(to)) continue
    if (!statOf(to)) place({ files: [to] })
    placeNew(to, content, n === 0 ? check : undefined)
  }
  return { turns: cut.turns, how: 'cut', left_out: [] }
}

const differs = (tool: string): SkeinError =>
  new SkeinError(
    'cut-differs',
    `The log in the pack is not one of ${tool}`,
    'Unpack it for another program: --tool <tool>',
  )
