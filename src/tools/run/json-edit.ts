/** A piece of a JSON text, by where it is. Comments and trailing commas are allowed, as programs that read settings allow them. */
interface Piece {
  readonly kind: 'object' | 'array' | 'other'
  readonly from: number
  readonly to: number
  readonly members: readonly Member[]
  readonly items: readonly Piece[]
}

interface Member {
  readonly key: string
  readonly from: number
  readonly value: Piece
}

/** Where a text is no JSON. */
export class JsonFault extends Error {
  constructor(
    readonly line: number,
    what: string,
  ) {
    super(`line ${line}: ${what}`)
  }
}

/**
 * Settings of hooks in a JSON text that belongs to its user: `{"hooks": {"<event>": [{"hooks": [{"command": …}]}]}}`. Entries are put in and
 * taken out of the text itself, so that everything else keeps every byte: comments, order, line endings, blanks, a byte order mark.
 */
export class HookSettings {
  readonly #text: string
  readonly #root: Piece

  /** Throws `JsonFault`. */
  constructor(text: string) {
    this.#text = text
    this.#root = new Scanner(text).whole()
    if (this.#root.kind !== 'object') throw new JsonFault(1, 'is no object')
  }

  /** The commands of an event that satisfy `isOurs`. */
  commandsOf(event: string, isOurs: (command: string) => boolean): string[] {
    return this.#commands(event).flatMap(({ command }) => (isOurs(command) ? [command] : []))
  }

  /** All events that have such a command. */
  eventsWith(isOurs: (command: string) => boolean): string[] {
    const { members } = this.#at(this.#root, 'hooks') ?? { members: [] }
    return [...new Set(members.map(({ key }) => key))].filter((event) => this.commandsOf(event, isOurs).length > 0)
  }

  /** With one more entry for an event, before those that are there. Throws `JsonFault` where the place for it holds something else. */
  with(event: string, entry: object): string {
    const hooks = this.#at(this.#root, 'hooks')
    if (!hooks) return this.#insert(this.#root, 1, `"hooks": ${this.#json({ [event]: [entry] }, 1)}`)
    if (hooks.kind !== 'object') throw new JsonFault(this.#lineOf(hooks.from), '"hooks" is no object')
    const entries = this.#at(hooks, event)
    if (!entries) return this.#insert(hooks, 2, `${JSON.stringify(event)}: ${this.#json([entry], 2)}`)
    if (entries.kind !== 'array') throw new JsonFault(this.#lineOf(entries.from), `"${event}" is no list`)
    return this.#insert(entries, 3, this.#json(entry, 3))
  }

  /** Without the first entry that satisfies `isOurs`, and without what that leaves empty; undefined when there is none. */
  without(isOurs: (command: string) => boolean): string | undefined {
    const hooks = this.#member(this.#root, 'hooks')
    for (const event of hooks?.value.members ?? []) {
      for (const entry of event.value.items) {
        const list = this.#at(entry, 'hooks')
        const found = list?.items.find((one) => this.#isOurs(one, isOurs))
        if (!hooks || !list || !found) continue
        if (list.items.length > 1) return this.#cut(found.from, found.to)
        if (event.value.items.length > 1) return this.#cut(entry.from, entry.to)
        if (hooks.value.members.length > 1) return this.#cut(event.from, event.value.to)
        return this.#cut(hooks.from, hooks.value.to)
      }
    }
    return undefined
  }

  get isEmpty(): boolean {
    return this.#root.members.length === 0
  }

  #isOurs(hook: Piece, isOurs: (command: string) => boolean): boolean {
    const command = this.#at(hook, 'command')
    return command !== undefined && isOurs(this.#string(command))
  }

  #commands(event: string): { command: string }[] {
    const hooks = this.#at(this.#root, 'hooks')
    const entries = hooks && this.#at(hooks, event)
    return (entries?.items ?? [])
      .flatMap((entry) => this.#at(entry, 'hooks')?.items ?? [])
      .flatMap((hook) => {
        const command = this.#at(hook, 'command')
        return command ? [{ command: this.#string(command) }] : []
      })
  }

  #string({ from, to }: Piece): string {
    const text = this.#text.slice(from, to)
    return text.startsWith('"') ? String(JSON.parse(text)) : ''
  }

  /** The last one counts, as programs read it. */
  #member(piece: Piece, key: string): Member | undefined {
    return piece.members.findLast((member) => member.key === key)
  }

  #at(piece: Piece, key: string): Piece | undefined {
    return this.#member(piece, key)?.value
  }

  #insert(into: Piece, depth: number, what: string): string {
    const isEmpty = into.members.length + into.items.length === 0
    const end = isEmpty ? `${this.#eol}${this.#indent.repeat(depth - 1)}` : ','
    const at = into.from + 1
    return `${this.#text.slice(0, at)}${this.#eol}${this.#indent.repeat(depth)}${what}${end}${this.#text.slice(at)}`
  }

  /** With the blanks before it and one comma: what `#insert` put there. */
  #cut(from: number, to: number): string {
    const rest = this.#text.slice(to)
    const comma = /^\s*,/.exec(rest)?.[0]
    const before = this.#text.slice(0, from).replace(/\s+$/, '')
    if (comma !== undefined) return before + rest.slice(comma.length)
    const isBehindAnother = before.endsWith(',')
    return (isBehindAnother ? before.slice(0, -1) : before) + rest
  }

  #json(value: unknown, depth: number): string {
    return JSON.stringify(value, undefined, this.#indent).replaceAll('\n', this.#eol + this.#indent.repeat(depth))
  }

  get #eol(): string {
    return this.#text.includes('\r\n') ? '\r\n' : '\n'
  }

  get #indent(): string {
    return /\n([ \t]+)"/.exec(this.#text)?.[1] ?? '  '
  }

  #lineOf(at: number): number {
    return this.#text.slice(0, at).split('\n').length
  }
}

/** Deeper than any settings; a text of brackets alone must not exhaust the stack. */
const MAX_DEPTH = 200

class Scanner {
  #at = 0

  constructor(private readonly text: string) {
    if (text.startsWith('\ufeff')) this.#at = 1
  }

  whole(): Piece {
    const value = this.#value(0)
    this.#skip()
    if (this.#at < this.text.length) throw this.#fault('something follows the end')
    return value
  }

  #value(depth: number): Piece {
    this.#skip()
    if (depth > MAX_DEPTH) throw this.#fault('is nested too deeply')
    const from = this.#at
    switch (this.text[from]) {
      case '{':
        return this.#container(from, 'object', '}', depth)
      case '[':
        return this.#container(from, 'array', ']', depth)
      default:
        this.#scalar()
        return { kind: 'other', from, to: this.#at, members: [], items: [] }
    }
  }

  #container(from: number, kind: 'object' | 'array', end: string, depth: number): Piece {
    const members: Member[] = []
    const items: Piece[] = []
    this.#at += 1
    for (;;) {
      this.#skip()
      if (this.text[this.#at] === end) break
      if (kind === 'array') items.push(this.#value(depth + 1))
      else members.push(this.#member(depth))
      this.#skip()
      if (this.text[this.#at] === ',') this.#at += 1
      else if (this.text[this.#at] !== end) throw this.#fault(`"," or "${end}" is missing`)
    }
    this.#at += 1
    return { kind, from, to: this.#at, members, items }
  }

  #member(depth: number): Member {
    const from = this.#at
    const key = this.#match(STRING)
    if (key === undefined) throw this.#fault('a name in quotes is missing')
    this.#skip()
    if (this.text[this.#at] !== ':') throw this.#fault('":" is missing')
    this.#at += 1
    return { key: this.#parsed(key), from, value: this.#value(depth + 1) }
  }

  #scalar(): void {
    const text = this.#match(STRING) ?? this.#match(WORD)
    if (text === undefined) throw this.#fault('a value is missing')
    this.#parsed(text)
  }

  #parsed(text: string): string {
    try {
      return String(JSON.parse(text))
    } catch {
      throw this.#fault('is not valid')
    }
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.text)?.[0]
    if (found !== undefined) this.#at += found.length
    return found
  }

  #skip(): void {
    while (this.#match(BLANK) !== undefined);
    if (this.text.startsWith('/*', this.#at)) throw this.#fault('a comment has no end')
  }

  #fault(what: string): JsonFault {
    return new JsonFault(this.text.slice(0, this.#at).split('\n').length, what)
  }
}

const BLANK = /[\t\n\r ]+|\/\/[^\n]*|\/\*[\s\S]*?\*\//y
const STRING = /"(?:[^"\\\n]|\\.)*"/y
const WORD = /[-+.\w]+/y
