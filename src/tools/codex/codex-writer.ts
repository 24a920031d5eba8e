import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseSessionId } from '../../model/index.js'
import { isUuid } from '../log/log-files.js'
import type { SpokenCall, SpokenTurn } from '../write/conversation.js'
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
import { codexRoots } from './codex-roots.js'
import { logPath, providerFor } from './codex-seed.js'

const DIALECT: Dialect = {
  tool: 'codex',
  shell: { name: 'exec_command', input: (cmd) => ({ cmd }) },
  reserved:
    /^(?:<(?:environment_context|user_instructions|turn_aborted|skills_instructions|permissions instructions|user_shell_command|INSTRUCTIONS|subagent_notification)\b|# AGENTS\.md instructions)/,
  mostChars: 600_000,
  callId: (hex) => `call_${hex.slice(0, 24)}`,
}
/** The version whose logs have this form. Codex refuses a log that names none. */
const VERSION = '0.166.0'

/**
 * Codex's rollout: an item for the model and an event for its screen, for each thing said or done. Without the events it resumes as
 * well, but shows an empty screen. Codex resumes no conversation whose provider it is not configured for, nor one that names none.
 */
export const codexWriter: ConversationWriter = {
  tool: DIALECT.tool,
  newId: parseSessionId,
  takes: isUuid,
  isBoundToBegun: true,
  write(conversation, target) {
    const ids = new MadeIds(target.session)
    const { turns, left_out } = inDialect(conversation, DIALECT, () => ids.hex(32))
    const began = beginningOf(conversation, target.now)
    const [root = ''] = codexRoots(target.environment)
    const path = logPath(root, target.session, began)
    const provider = providerFor(join(root, 'config.toml'), [])
    const content = linesOf(new CodexLines(target, ids, new RisingClock(began), provider).records(turns))
    return { session: target.session, files: [{ path, content }], turns, left_out } satisfies Written
  },
}

class CodexLines {
  readonly #records: object[] = []
  #turn = ''

  constructor(
    private readonly target: WriteTarget,
    private readonly ids: MadeIds,
    private readonly clock: RisingClock,
    private readonly provider: string,
  ) {}

  records(turns: readonly SpokenTurn[]): object[] {
    const { session, cwd } = this.target
    const timestamp = this.clock.at()
    const place = { id: session, session_id: session, timestamp, cwd, originator: 'codex-tui', cli_version: VERSION }
    this.#add(
      'session_meta',
      { ...place, source: 'cli', model_provider: this.provider, history_mode: 'paginated' },
      timestamp,
    )
    for (const turn of turns) this.#addTurn(turn)
    return this.#records
  }

  #addTurn({ prompt, at, ended_at, parts }: SpokenTurn): void {
    this.#turn = this.ids.uuid()
    const began = this.clock.at(at)
    const started_at = Math.trunc(Date.parse(began) / 1000)
    this.#add('event_msg', { type: 'task_started', turn_id: this.#turn, started_at }, began)
    this.#add('response_item', { type: 'message', role: 'user', content: [{ type: 'input_text', text: prompt }] })
    const typed = [{ type: 'text', text: prompt, text_elements: [] }]
    this.#done({ type: 'UserMessage', id: this.ids.uuid(), content: typed })
    for (const part of parts) {
      if (part.kind === 'call') this.#addCall(part)
      else this.#say(part.text)
    }
    const last = parts.at(-1)
    const last_agent_message = last?.kind === 'text' ? last.text : null
    this.#add('event_msg', { type: 'task_complete', turn_id: this.#turn, last_agent_message }, this.clock.at(ended_at))
  }

  #say(text: string): void {
    const content = [{ type: 'output_text', text }]
    this.#add('response_item', { type: 'message', role: 'assistant', content })
    this.#done({ type: 'AgentMessage', id: `msg_${this.ids.hex(24)}`, content: [{ type: 'Text', text }] })
  }

  #addCall({ id, name, input, result }: SpokenCall): void {
    const { text = '', is_error = false } = result ?? {}
    const exit_code = is_error ? 1 : 0
    const call = { type: 'function_call', name, arguments: JSON.stringify(input), call_id: id }
    this.#add('response_item', call)
    if (name === DIALECT.shell?.name && typeof input.cmd === 'string') this.#ran(id, input.cmd, text, exit_code)
    // As it begins the answer of its own shell: else a text that looks like this would be taken for it.
    const output = `Process exited with code ${exit_code}\nOutput:\n${text}`
    this.#add('response_item', { type: 'function_call_output', call_id: id, output })
  }

  /** What the screen shows of a command. */
  #ran(id: string, command: string, output: string, exit_code: number): void {
    this.#done({
      type: 'CommandExecution',
      id,
      command: ['/bin/bash', '-lc', command],
      cwd: pathToFileURL(this.target.cwd).href,
      parsed_cmd: [{ type: 'unknown', cmd: command }],
      source: 'unified_exec_startup',
      status: exit_code === 0 ? 'completed' : 'failed',
      aggregated_output: output,
      exit_code,
      duration: { secs: 0, nanos: 0 },
    })
  }

  #done(item: object): void {
    const thread_id = this.target.session
    this.#add('event_msg', { type: 'item_completed', thread_id, turn_id: this.#turn, item })
  }

  #add(type: string, payload: object, timestamp = this.clock.at()): void {
    this.#records.push({ timestamp, ordinal: this.#records.length, type, payload })
  }
}
