import { type Instant, msOf, parseSessionId } from '../../model/index.js'
import type { Conversation, SpokenCall, SpokenTurn } from '../write/conversation.js'
import { type Dialect, inDialect } from '../write/dialect.js'
import {
  beginningOf,
  type ConversationWriter,
  linesOf,
  MadeIds,
  RisingClock,
  type WriteTarget,
  type Written,
} from '../write/writer.js'
import { piLogPath } from './pi-name.js'

const DIALECT: Dialect = {
  tool: 'pi',
  shell: { name: 'bash', input: (command) => ({ command }) },
  mostChars: 400_000,
  callId: (hex) => `call_${hex.slice(0, 24)}`,
}
/** pi adds up what replies cost, and ends with an error where one does not say. Nothing was paid for these. */
const USAGE = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 0,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
}

/** pi's session file: a header, then entries that form a chain by id and parentId, without which only the last is sent. */
export const piWriter: ConversationWriter = {
  tool: DIALECT.tool,
  newId: parseSessionId,
  takes: () => true,
  write(conversation, target) {
    const ids = new MadeIds(target.session)
    const { turns, left_out } = inDialect(conversation, DIALECT, () => ids.hex(32))
    const began = beginningOf(conversation, target.now)
    const content = linesOf(new PiLines(conversation, target, ids, new RisingClock(began)).records(turns))
    const path = piLogPath(target.environment, { session: target.session, cwd: target.cwd, at: began })
    return { session: target.session, files: [{ path, content }], turns, left_out } satisfies Written
  },
}

class PiLines {
  readonly #records: object[] = []
  #parent: string | null = null

  constructor(
    private readonly conversation: Conversation,
    private readonly target: WriteTarget,
    private readonly ids: MadeIds,
    private readonly clock: RisingClock,
  ) {}

  records(turns: readonly SpokenTurn[]): object[] {
    const { session: id, cwd } = this.target
    this.#records.push({ type: 'session', version: 3, id, timestamp: this.clock.at(), cwd })
    for (const turn of turns) this.#addTurn(turn)
    const { title } = this.conversation
    if (title) this.#add('session_info', { name: title.toWellFormed() }, this.clock.at())
    return this.#records
  }

  #addTurn({ prompt, at, ended_at, parts, outcome, error }: SpokenTurn): void {
    this.#say({ role: 'user', content: [{ type: 'text', text: prompt }] }, at)
    let words: object[] = []
    for (const part of parts) {
      if (part.kind === 'text') words.push({ type: 'text', text: part.text })
      else {
        this.#addCall(part, words)
        words = []
      }
    }
    if (words.length > 0) this.#reply(words, 'stop', ended_at)
    // pi sends no reply that was cut off: so what was said is one that ended, and how the turn ended is another one without words.
    if (outcome === 'aborted') this.#reply([], 'aborted', ended_at)
    else if (outcome === 'failed')
      this.#reply([], 'error', ended_at, { errorMessage: error?.toWellFormed() ?? 'error' })
  }

  #addCall({ id, name, input, result }: SpokenCall, words: readonly object[]): void {
    this.#reply([...words, { type: 'toolCall', id, name, arguments: input }], 'toolUse')
    const { text = '', is_error = false } = result ?? {}
    const content = [{ type: 'text', text }]
    this.#say({ role: 'toolResult', toolCallId: id, toolName: name, content, isError: is_error })
  }

  #reply(content: readonly object[], stopReason: string, at?: Instant, more: object = {}): void {
    this.#say({ role: 'assistant', content, usage: USAGE, stopReason, ...more }, at)
  }

  #say(message: object, at?: Instant): void {
    const timestamp = this.clock.at(at)
    this.#add('message', { message: { ...message, timestamp: msOf(timestamp) } }, timestamp)
  }

  #add(type: string, more: object, timestamp: Instant): void {
    const id = this.ids.hex(16)
    this.#records.push({ type, id, parentId: this.#parent, timestamp, ...more })
    this.#parent = id
  }
}
