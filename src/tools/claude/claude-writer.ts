import { join } from 'node:path'
import { type Instant, parseSessionId } from '../../model/index.js'
import { isUuid } from '../log/log-files.js'
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
import { claudeProject, claudeRoots } from './claude-roots.js'

const DIALECT: Dialect = {
  tool: 'claude',
  shell: { name: 'Bash', input: (command) => ({ command }) },
  reserved: /^\[Request interrupted by user/,
  mostChars: 480_000,
  callId: (hex) => `toolu_${hex.slice(0, 24)}`,
}

/**
 * Claude Code's session file: a chain of lines by uuid and parentUuid, without which it sends only the last of them. No usage is
 * written: nothing was paid for these lines, and the conversation is short enough not to be compacted.
 */
export const claudeWriter: ConversationWriter = {
  tool: DIALECT.tool,
  newId: parseSessionId,
  takes: isUuid,
  write(conversation, target) {
    const ids = new MadeIds(target.session)
    const { turns, left_out } = inDialect(conversation, DIALECT, () => ids.hex(32))
    const content = linesOf(new ClaudeLines(conversation, target, ids).records(turns))
    const [root = ''] = claudeRoots(target.environment)
    const path = join(root, 'projects', claudeProject(target.cwd), `${target.session}.jsonl`)
    return { session: target.session, files: [{ path, content }], turns, left_out } satisfies Written
  },
}

class ClaudeLines {
  readonly #clock: RisingClock
  readonly #records: object[] = []
  #parent: string | null = null
  /** Of one reply: its text and its calls are one message. */
  #message: string | undefined

  constructor(
    private readonly conversation: Conversation,
    private readonly target: WriteTarget,
    private readonly ids: MadeIds,
  ) {
    this.#clock = new RisingClock(beginningOf(conversation, target.now))
  }

  records(turns: readonly SpokenTurn[]): object[] {
    for (const turn of turns) this.#addTurn(turn)
    const sessionId = this.target.session
    const { title } = this.conversation
    if (title) this.#records.push({ type: 'custom-title', customTitle: title.toWellFormed(), sessionId })
    const lastPrompt = turns.at(-1)?.prompt
    if (lastPrompt !== undefined)
      this.#records.push({ type: 'last-prompt', lastPrompt, leafUuid: this.#parent, sessionId })
    return this.#records
  }

  #addTurn({ prompt, at, ended_at, parts }: SpokenTurn): void {
    this.#add('user', { role: 'user', content: prompt }, at, { promptSource: 'typed' })
    for (const [index, part] of parts.entries()) {
      const isLast = index === parts.length - 1
      if (part.kind === 'call') this.#addCall(part)
      else {
        const text = { type: 'text', text: part.text }
        this.#reply(text, isLast ? 'end_turn' : 'tool_use', isLast ? ended_at : undefined)
      }
    }
    this.#message = undefined
  }

  #addCall({ id, name, input, result }: SpokenCall): void {
    this.#reply({ type: 'tool_use', id, name, input }, 'tool_use')
    this.#message = undefined
    const { text = '', is_error = false } = result ?? {}
    const answer = { type: 'tool_result', tool_use_id: id, content: text, ...(is_error ? { is_error } : {}) }
    const shown = is_error ? `Error: ${text}` : { stdout: text, stderr: '', interrupted: false, isImage: false }
    // The program draws what a shell printed from this, and nothing else.
    const isShell = name === DIALECT.shell?.name
    this.#add('user', { role: 'user', content: [answer] }, undefined, isShell ? { toolUseResult: shown } : {})
  }

  #reply(block: object, stop_reason: string, at?: Instant): void {
    this.#message ??= `msg_${this.ids.hex(24)}`
    this.#add(
      'assistant',
      { id: this.#message, type: 'message', role: 'assistant', stop_reason, content: [block] },
      at,
      {},
    )
  }

  #add(type: string, message: object, at: Instant | undefined, more: object): void {
    const uuid = this.ids.uuid()
    const { session: sessionId, cwd } = this.target
    const place = { sessionId, cwd, isSidechain: false, userType: 'external' }
    this.#records.push({
      parentUuid: this.#parent,
      type,
      message,
      uuid,
      timestamp: this.#clock.at(at),
      ...place,
      ...more,
    })
    this.#parent = uuid
  }
}
