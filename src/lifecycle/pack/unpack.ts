import { mkdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { isThere, realPath, statOf, sweepScratch } from '../../disk/index.js'
import { type Agent, parseAddress, parseAgentId, type SessionId, SkeinError, splitAddress } from '../../model/index.js'
import { carriedCode } from '../../snapshots/index.js'
import { hasWriter, type LeftOut, writerOf } from '../../tools/index.js'
import type { Placing } from '../fork/fork-conversation.js'
import { directoryMark, type ForkNote, ForkNotes } from '../fork/fork-note.js'
import { placeBelow } from '../fork/fork-plan.js'
import { undoFork } from '../fork/undo-fork.js'
import { placeConversation } from '../fork/written-conversation.js'
import { nowOf, type Parts, runnerOf } from '../parts.js'
import { agentExists, spawn } from '../run/start.js'
import { refuseParked } from '../sling/admission.js'
import { type CarriedSession, contentsOf, type PackContents } from './carried-session.js'
import { PackFile } from './container.js'
import { MovedPaths } from './moved-paths.js'
import { type GivenPassphrase, passphraseOf } from './sealing.js'
import { spokenIn, unpackConversation } from './unpacked-conversation.js'

export interface UnpackRequest extends GivenPassphrase {
  file: string
  /** The program that continues; that of the session by default. */
  tool?: string
  /** The directory to make for the code; without code, one that exists. An absolute path. */
  into?: string
  /** Where the caller is. */
  here?: string
  /** Of the agent. */
  name?: string
  /** Code whose files take more gigabytes is refused. */
  max_gb?: number
  /** Called where the pack is sealed and no passphrase was given. */
  askPassphrase?: () => Promise<string>
  /** Called before each step; what it throws fails that step, and the unpacking is undone. */
  onStep?: (step: UnpackStep) => void
}

export type UnpackStep = 'directory' | 'code' | 'record' | 'agent' | 'session' | 'conversation' | 'bind' | 'end'

export interface Unpacked {
  agent: Agent
  session: SessionId
  /** The session that was packed. */
  source: SessionId
  turn: number | undefined
  turns: number
  how: 'cut' | 'written'
  tool: string
  cwd: string
  /** The directory that was made, and the branch in it. */
  directory?: string
  branch?: string
  /** Sessions of the chain that were recorded here. */
  recorded: SessionId[]
  missing: { path: string; reason: string }[]
  left_out: LeftOut[]
}

/**
 * Makes an agent from a pack: a directory with the code, a log that its program resumes, a session with its origin. The program is not
 * started, and nothing that the pack names is run. The whole file is checked before anything changes. Every unpacking makes a copy of its
 * own. What fails is undone, and what was cut off is taken back by the next one.
 */
export async function unpack(parts: Parts, request: UnpackRequest): Promise<Unpacked> {
  await new ForkNotes(parts).sweep()
  await sweepScratch(parts.context.clock.now())
  using file = await PackFile.open(request.file, () => passphraseFor(request))
  const contents = contentsOf(file.contents, request.file)
  // A conversation that cannot be read is found before a session or an agent is recorded.
  for (const carried of contents.sessions) spokenIn(file, carried, new MovedPaths([], ''))
  return await new Unpacking(parts, request, file, contents).run() // the file is open until then
}

async function passphraseFor(request: UnpackRequest): Promise<string> {
  const { askPassphrase, file } = request
  const given = passphraseOf(request) ?? passphraseOf({ passphrase: await askPassphrase?.() })
  if (given !== undefined) return given
  throw new SkeinError(
    'bad-input',
    `${file} is sealed`,
    'Give its passphrase: --passphrase-file <file> , or SKEIN_PASSPHRASE',
  )
}

class Unpacking {
  readonly #carried: CarriedSession
  readonly #tool: string

  constructor(
    private readonly parts: Parts,
    private readonly request: UnpackRequest,
    private readonly file: PackFile,
    private readonly contents: PackContents,
  ) {
    const last = contents.sessions.at(-1)
    if (!last) throw new Error('a pack without sessions')
    this.#carried = last
    this.#tool = this.#toolFor()
  }

  async run(): Promise<Unpacked> {
    const { parts, contents } = this
    const notes = new ForkNotes(parts)
    const id = parts.context.random.uuid()
    const session = writerOf(this.#tool).newId(id)
    const address = await this.#address()
    await refuseParked(parts.home, address)
    const directory = this.#place(address)
    const note: ForkNote = { ...notes.begin(id), ...(contents.code ? { directory } : {}), session }
    const write = (): void => notes.write(note)
    write()
    try {
      const made = await this.#make({ note, write, session, address, directory })
      notes.forget(id)
      return made
    } catch (error) {
      await undoFork(parts, note).then(
        () => notes.forget(id),
        (failed: Error) => parts.context.warn(`Not undone: ${failed.message}`),
      )
      throw error
    }
  }

  async #make({ note, write, session, address, directory }: Making): Promise<Unpacked> {
    const { parts, contents } = this
    const step = (name: UnpackStep): void => this.request.onStep?.(name)
    step('directory')
    if (contents.code) {
      mkdirSync(directory, { mode: 0o700 })
      note.made = directoryMark(directory)
      write()
    }
    step('code')
    const code = contents.code && (await this.#code(directory, session))
    const root = realPath(directory)
    const cwd = this.#cwd(root)
    const { session: source, turn } = this.#carried
    const moved = new MovedPaths([contents.code?.root, source.cwd], root)
    const place = (made: Placing): void => {
      note.files.push(...(made.files ?? []))
      if (made.imported) note.imported = { ...made.imported, cwd }
      write()
    }
    step('record')
    const recorded = await this.#recordSources(root, moved, place)
    note.agent = parseAgentId(parts.context.random.uuid())
    if (code) note.is_ready = true
    write()
    const options = { agent: address, cwd, tool: this.#tool, ...titled(this.#carried) }
    step('agent')
    const agent = await spawn(parts, options, note.agent)
    const origin = { session: source.id, ...(turn === undefined ? {} : { turn }) }
    step('session')
    // Before there is a log of it, which a reader of logs would take for a session that it has found.
    await parts.home.sessions.start({ id: session, ...options, agent: agent.address, forked_from: origin })
    step('conversation')
    const target = { tool: this.#tool, session, cwd }
    const written = await unpackConversation(parts, this.file, this.#carried, target, moved, place)
    step('bind')
    await this.#bind(agent, session)
    step('end')
    return {
      ...{ agent, session, source: source.id, turn, ...written, tool: this.#tool, cwd, recorded },
      ...(code ? { directory: root } : {}),
      ...(code?.branch ? { branch: code.branch } : {}),
      missing: code?.skipped.map(({ path, reason }) => ({ path, reason })) ?? [],
    }
  }

  #toolFor(): string {
    const tool = this.request.tool ?? this.#carried.session.tool
    if (tool !== undefined && hasWriter(tool)) {
      runnerOf(this.parts, tool)
      return tool
    }
    if (this.request.tool !== undefined) writerOf(this.request.tool) // says which can be used
    const name = JSON.stringify((tool ?? 'no tool').slice(0, 80))
    throw new SkeinError(
      'bad-input',
      `The session is one of ${name}, which cannot resume a copy`,
      'Name another: --tool <tool>',
    )
  }

  /** As it is named, or as it was where it comes from. */
  async #address() {
    const { name } = this.request
    const taken = new Set<string>((await this.parts.home.roster.agents()).map(({ address }) => address))
    if (name !== undefined) {
      const address = parseAddress(name)
      if (!taken.has(address)) return address
      throw agentExists(address)
    }
    const base = addressIn(this.#carried.session.agent) ?? parseAddress(this.#tool)
    for (let n = 1; ; n += 1) {
      const address = n === 1 ? base : parseAddress(`${base}-${n}`)
      if (!taken.has(address)) return address
    }
  }

  /** Where the code will be: a directory that is not there. Without code: one that is. */
  #place(address: ReturnType<typeof parseAddress>): string {
    const { into, here } = this.request
    const usual =
      here === undefined ? undefined : this.contents.code ? freeName(join(here, splitAddress(address).name)) : here
    const given = into ?? usual
    if (given === undefined) throw new SkeinError('bad-input', 'No directory is named', 'Name one: --into <directory>')
    if (!this.contents.code) {
      if (statOf(given)?.isDirectory()) return given
      throw new SkeinError(
        'bad-input',
        `${given} is not a directory`,
        'The pack has no code: name a directory that exists',
      )
    }
    if (isThere(given))
      throw new SkeinError(
        'bad-input',
        `${given} is already there`,
        'Choose a directory that does not exist yet: --into',
      )
    if (!statOf(dirname(given))?.isDirectory())
      throw new SkeinError('bad-input', `${dirname(given)} is not a directory`, 'Create it, or choose another: --into')
    return join(realPath(dirname(given)), basename(given))
  }

  #code(root: string, session: SessionId) {
    const code = carriedCode(this.contents.code)
    if (!code) throw new Error('a pack without code')
    const { max_gb: mostGb } = this.request
    const target = { root, session, ...(mostGb === undefined ? {} : { mostGb }) }
    return this.parts.home.snapshots.adopt(code, this.file.member('code.bundle'), target)
  }

  /** The same place in the new directory, unless a link in it leads out. */
  #cwd(root: string): string {
    const { code } = this.contents
    const { cwd } = this.#carried.session
    if (!code || cwd === undefined) return root
    const below = placeBelow(root, code.root, cwd)
    if (!statOf(below)?.isDirectory()) return root
    const real = realPath(below)
    return real === root || real.startsWith(`${root}/`) ? real : root
  }

  /** The sessions that were packed, as far as they are not known here: ended, so that the new one has an origin. */
  async #recordSources(root: string, moved: MovedPaths, place: (made: Placing) => void): Promise<SessionId[]> {
    const { sessions } = this.parts.home
    const recorded: SessionId[] = []
    for (const carried of this.contents.sessions) {
      const { session } = carried
      if (await sessions.get(session.id)) continue
      const { id, tool, title, started_at, ended_at, outcome, reason, parent_id, link, branch, model, commits } =
        session
      const before = parent_id === undefined ? undefined : await sessions.get(parent_id)
      await sessions.start({
        id,
        started_at,
        cwd: root,
        ...(before && before.child_id === undefined ? { parent_id: before.id, ...(link ? { link } : {}) } : {}),
        ...(tool === undefined ? {} : { tool }),
        ...(title === undefined ? {} : { title }),
        ...(branch === undefined ? {} : { branch }),
        ...(model === undefined ? {} : { model }),
        ...(commits === undefined ? {} : { commits }),
      })
      recorded.push(id)
      if (carried !== this.#carried) await this.#writeEarlier(carried, root, moved, place)
      const end = { outcome: outcome ?? ('exit' as const), reason: reason ?? 'unpacked from a file' }
      await sessions.end(id, { ...end, ended_at: ended_at ?? nowOf(this.parts) })
    }
    return recorded
  }

  /** So that an earlier session of the chain can be read here, and asked. The last one is copied under an id of its own. */
  async #writeEarlier(
    carried: CarriedSession,
    root: string,
    moved: MovedPaths,
    place: (made: Placing) => void,
  ): Promise<void> {
    const { id, tool } = carried.session
    if (tool === undefined || !hasWriter(tool) || !writerOf(tool).takes(id)) return
    if (await runnerOf(this.parts, tool).hasConversation?.(id, this.parts.environment)) return
    await placeConversation(this.parts, spokenIn(this.file, carried, moved), { tool, session: id, cwd: root }, place)
  }

  /** The copy is this agent's, because Skein has made it under an id that it chose. */
  async #bind(agent: Agent, session: SessionId): Promise<void> {
    await this.parts.runs.update(agent, (current) => {
      if (!current) throw new Error(`agent ${agent.id} has no file`)
      const binding = { session, since: nowOf(this.parts), how: 'fork' as const, is_confirmed: false }
      const evidence = { how: 'fork', at: binding.since, made_by: 'skein' }
      const payload = { agent_id: agent.id, session, how: 'fork', evidence }
      return { next: { ...current, binding }, events: [{ type: 'identity_bind', session, payload }], result: undefined }
    })
  }
}

/** What an unpacking has chosen before anything is made. */
interface Making {
  note: ForkNote
  /** Keeps the note before what it names is made. */
  write: () => void
  session: SessionId
  address: string
  directory: string
}

const titled = ({ session: { title } }: CarriedSession) => (title === undefined ? {} : { title })

function addressIn(text: string | undefined) {
  try {
    return text === undefined ? undefined : parseAddress(text)
  } catch {
    return undefined
  }
}

function freeName(path: string): string {
  for (let n = 1; ; n += 1) {
    const name = n === 1 ? path : `${path}-${n}`
    if (!isThere(name)) return name
  }
}
