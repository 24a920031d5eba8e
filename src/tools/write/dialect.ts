import { CLIP, clip } from '../log/clip.js'
import type { Conversation, LeftOut, SpokenCall, SpokenPart, SpokenTurn } from './conversation.js'
import { fitted } from './fit.js'
import { shellCommandOf } from './shell-command.js'

/** How a tool wants a conversation that is not its own. */
export interface Dialect {
  readonly tool: string
  /** Its name for a shell; absent where calls are always written as text. */
  readonly shell?: { name: string; input(command: string): Record<string, unknown> }
  /** Prompts that it would take for something else, drop, or that its log cannot tell from its own notes. */
  readonly reserved?: RegExp
  /** So many characters fit well into the context of its usual models, beside its own instructions. */
  readonly mostChars: number
  callId(hex: string): string
}

/** Room for what a reader of logs keeps of a text, with the mark of its own shortening. */
const MOST_TEXT = CLIP.prompt - 64
/** As much of a result as is carried. */
export const RESULT_CHARS = 16_000
/** A reader that gets this much of a result gets all that was written. */
export const WRITTEN_RESULT_CHARS = RESULT_CHARS + 64
const MOST_ARGUMENT = CLIP.argument - 64
const MOST_INPUT = 2_000

/** The turns as the tool's log will have them, and what is lost by it. */
export function inDialect(
  conversation: Conversation,
  dialect: Dialect,
  hex: () => string,
): { turns: SpokenTurn[]; left_out: LeftOut[] } {
  const adapter = new Adapter(conversation, dialect, hex)
  const fit = fitted(conversation, dialect.mostChars)
  const turns = fit.turns.map((turn) => adapter.turn(turn))
  return { turns, left_out: [...conversation.left_out, ...adapter.leftOut(), ...fit.left_out] }
}

class Adapter {
  #asText = 0
  #odd = 0

  constructor(
    private readonly conversation: Conversation,
    private readonly dialect: Dialect,
    private readonly hex: () => string,
  ) {}

  leftOut(): LeftOut[] {
    return [
      { what: 'tool calls, written as text', count: this.#asText },
      { what: 'texts with characters that are no text', count: this.#odd },
    ].filter(({ count }) => count > 0)
  }

  turn(turn: SpokenTurn): SpokenTurn {
    const parts = turn.parts.map((part) => this.#part(part))
    const note = noteOf(turn)
    return {
      ...turn,
      prompt: this.#prompt(turn.prompt),
      parts: joined([...parts, ...(note ? [{ kind: 'text' as const, text: this.#sound(note) }] : [])]),
    }
  }

  #prompt(prompt: string): string {
    const text = this.#sound(prompt)
    if (text.trim() === '') return '(no text)'
    return clip(this.dialect.reserved?.test(text) ? `The user wrote: ${text}` : text, MOST_TEXT)
  }

  #part(part: SpokenPart): SpokenPart {
    if (part.kind === 'text') return { kind: 'text', text: this.#sound(part.text) }
    const native = this.#native(part)
    if (native) return native
    this.#asText += 1
    return { kind: 'text', text: this.#sound(recordOf(part)) }
  }

  #native({ name, input, result }: SpokenCall): SpokenCall | undefined {
    const { tool, shell, callId } = this.dialect
    if (!shell || !result) return undefined
    const isOwn = this.conversation.tool === tool
    const command = shellCommandOf(name, input)
    if (!isOwn && command === undefined) return undefined
    const text = clip(this.#sound(result.text), RESULT_CHARS) || (result.is_error ? '(no output)' : '')
    const call = isOwn ? { name, input } : { name: shell.name, input: shell.input(command ?? '') }
    return {
      kind: 'call',
      id: callId(this.hex()),
      name: this.#sound(call.name),
      input: this.#soundInput(call.input),
      result: { ...result, text },
    }
  }

  #soundInput(input: Record<string, unknown>): Record<string, unknown> {
    const sound = (value: unknown): unknown => {
      if (typeof value === 'string') return clip(this.#sound(value), MOST_ARGUMENT)
      if (Array.isArray(value)) return value.map(sound)
      if (typeof value !== 'object' || value === null) return value
      return Object.fromEntries(Object.entries(value).map(([key, one]) => [this.#sound(key), sound(one)]))
    }
    return JSON.parse(JSON.stringify(sound(input))) as Record<string, unknown> // numbers that JSON has not become null
  }

  /** Half a surrogate pair makes some programs drop the line, and NUL is the end of a text to others. */
  #sound(text: string): string {
    const sound = text.toWellFormed().replaceAll('\0', '\ufffd')
    if (sound !== text) this.#odd += 1
    return sound
  }
}

/** How a turn ended, where it did not end with a reply: a model that reads it must not take it for one. Once, however often it is written. */
function noteOf(turn: SpokenTurn): string | undefined {
  const note = endOf(turn)
  const last = turn.parts.at(-1)
  return note !== undefined && last?.kind === 'text' && last.text.endsWith(note) ? undefined : note
}

function endOf({ outcome, error, parts }: SpokenTurn): string | undefined {
  if (outcome === 'aborted') return '(The user interrupted this turn.)'
  if (outcome === 'failed') return `(This turn failed${error ? `: ${clip(error, 500)}` : ''}.)`
  if (outcome === 'open' && parts.at(-1)?.kind !== 'text') return '(This turn ended without a reply.)'
  return parts.length === 0 ? '(No reply is recorded.)' : undefined
}

/** A call as text. It says that it is a record, so that no model takes it for the way to call a tool. */
export function recordOf({ name, input, result }: SpokenCall): string {
  const command = shellCommandOf(name, input)
  const given = command === undefined ? JSON.stringify(input) : `$ ${command}`
  const ended = !result
    ? 'It was interrupted: no result is recorded.'
    : result.text === ''
      ? `It ${result.is_error ? 'failed' : 'returned'} without output.`
      : `It ${result.is_error ? 'failed with' : 'returned'}:\n${quoted(clip(result.text, RESULT_CHARS))}`
  return `Record of an earlier tool call (${name}), kept as text:\n${quoted(clip(given, MOST_INPUT))}\n${ended}`
}

const quoted = (text: string): string => text.replace(/^/gm, '> ')

/** Texts behind one another as one: each tool keeps a reply as one message up to the next call. */
function joined(parts: readonly SpokenPart[]): SpokenPart[] {
  const all: SpokenPart[] = []
  for (const part of parts) {
    const last = all.at(-1)
    if (part.kind === 'text' && part.text.trim() === '') continue
    if (part.kind === 'text' && last?.kind === 'text') last.text = `${last.text}\n\n${part.text}`
    else all.push({ ...part })
  }
  for (const part of all) if (part.kind === 'text') part.text = clip(part.text, MOST_TEXT)
  return all.length > 0 ? all : [{ kind: 'text', text: '(No reply is recorded.)' }]
}
