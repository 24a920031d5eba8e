import { msOf, parseSessionId, SkeinError } from '../../model/index.js'
import type { Conversation, SpokenCall, SpokenTurn } from '../write/conversation.js'
import { type Dialect, inDialect } from '../write/dialect.js'
import {
  beginningOf,
  type ConversationWriter,
  MadeIds,
  RisingClock,
  type WriteTarget,
  type Written,
} from '../write/writer.js'
import { opencodeModel } from './opencode-model.js'

const DIALECT: Dialect = {
  tool: 'opencode',
  shell: { name: 'bash', input: (command) => ({ command, description: 'Runs a command' }) },
  // `opencode run` stores a prompt with quotes around it, so those of a reader are taken off.
  reserved: /^"[\s\S]*"$/,
  mostChars: 400_000,
  callId: (hex) => `call_${hex.slice(0, 24)}`,
}
/** The version whose exports have this form. */
const VERSION = '1.18.33'
const NO_TOKENS = { input: 0, output: 0, reasoning: 0, cache: { read: 0, write: 0 } }

/** What `opencode export` prints of a session, for `opencode import`: its database is its own. */
export const opencodeWriter: ConversationWriter = {
  tool: DIALECT.tool,
  newId: (uuid) => parseSessionId(`ses_${uuid.replaceAll('-', '').slice(0, 26)}`),
  takes: (session) => session.startsWith('ses'),
  modelFor: opencodeModel,
  modelList: ['opencode', 'models'],
  write(conversation, target) {
    const ids = new MadeIds(target.session)
    const { turns, left_out } = inDialect(conversation, DIALECT, () => ids.hex(32))
    const content = `${JSON.stringify(new OpencodeExport(conversation, target, ids).document(turns), null, 1)}\n`
    const path = `${target.session}.json`
    return {
      session: target.session,
      files: [{ path, content }],
      import: { argv: ['opencode', 'import', path], cwd: target.cwd },
      turns,
      left_out,
    } satisfies Written
  },
}

class OpencodeExport {
  readonly #clock: RisingClock
  readonly #messages: object[] = []
  readonly #model: { providerID: string; modelID: string }
  #ids = 0

  constructor(
    private readonly conversation: Conversation,
    private readonly target: WriteTarget,
    private readonly made: MadeIds,
  ) {
    this.#clock = new RisingClock(beginningOf(conversation, target.now))
    this.#model = modelOf(target)
  }

  document(turns: readonly SpokenTurn[]): object {
    const created = this.#now()
    for (const turn of turns) this.#addTurn(turn)
    const { session: id, cwd: directory } = this.target
    const title = this.conversation.title?.toWellFormed() ?? turns[0]?.prompt.split('\n', 1)[0]?.slice(0, 80) ?? id
    const time = { created, updated: this.#now() }
    return { info: { id, slug: id, directory, title, version: VERSION, time }, messages: this.#messages }
  }

  #addTurn({ prompt, at, ended_at, parts }: SpokenTurn): void {
    const created = msOf(this.#clock.at(at))
    const asked = this.#id('msg', created)
    const user = { id: asked, role: 'user', time: { created }, agent: 'build', model: this.#model }
    this.#add(user, [{ type: 'text', text: prompt }])
    let words: object[] = []
    for (const part of parts) {
      if (part.kind === 'text') words.push({ type: 'text', text: part.text })
      else {
        this.#reply(asked, [...words, this.#call(part)], 'tool-calls')
        words = []
      }
    }
    if (words.length > 0) this.#reply(asked, words, 'stop', ended_at && msOf(this.#clock.at(ended_at)))
  }

  #call({ id, name, input, result }: SpokenCall): object {
    const { text = '', is_error = false } = result ?? {}
    const start = this.#now()
    const time = { start, end: this.#now() }
    const title = typeof input.command === 'string' ? input.command.slice(0, 200) : name
    const isShell = name === DIALECT.shell?.name
    // A command that failed is completed; only its exit code says how.
    const metadata = isShell ? { output: text, exit: is_error ? 1 : 0 } : {}
    const state =
      is_error && !isShell
        ? { status: 'error', input, error: text || 'error', time }
        : { status: 'completed', input, output: text, title, metadata, time }
    return { type: 'tool', tool: name, callID: id, state }
  }

  #reply(parentID: string, parts: readonly object[], finish: string, completed = this.#now()): void {
    const created = this.#now()
    const { cwd } = this.target
    const time = { created, completed: Math.max(created, completed) }
    const info = { id: this.#id('msg', created), role: 'assistant', parentID, mode: 'build', agent: 'build' }
    const rest = { path: { cwd, root: cwd }, cost: 0, tokens: NO_TOKENS, time, finish }
    this.#add({ ...info, ...this.#model, ...rest }, parts)
  }

  #add(info: { id: string }, parts: readonly object[]): void {
    const { session: sessionID } = this.target
    const place = { sessionID, messageID: info.id }
    const numbered = parts.map((part) => ({ id: this.#id('prt', this.#now()), ...place, ...part }))
    this.#messages.push({ info: { ...info, sessionID }, parts: numbered })
  }

  /** Its ids sort by time. */
  #id(kind: 'msg' | 'prt', ms: number): string {
    this.#ids += 1
    const stamp = (BigInt(ms) * 0x1000n + BigInt(this.#ids % 0x1000)) & 0xffff_ffff_ffffn
    return `${kind}_${stamp.toString(16).padStart(12, '0')}${this.made.hex(14)}`
  }

  #now(): number {
    return msOf(this.#clock.at())
  }
}

/** opencode fails at the first prompt, and keeps it, where the messages name a model that it cannot reach. */
function modelOf({ model }: WriteTarget): { providerID: string; modelID: string } {
  const [providerID, ...rest] = model?.split('/') ?? []
  if (providerID && rest.length > 0) return { providerID, modelID: rest.join('/') }
  throw new SkeinError(
    'bad-input',
    'opencode has to be given a model that it can reach, and none was found',
    'Name one: --model <provider>/<model>',
  )
}
