// Over 400 lines: one fold over the facts of a conversation; each list that it fills reads what the others have seen.
import type { Instant } from '../../model/index.js'
import type { Fact } from '../../tools/index.js'
import { commandKey, type ListItem, meaningOf } from './call-meaning.js'

type Of<Kind extends Fact['kind']> = Extract<Fact, { kind: Kind }>

/** What a conversation was about and where it stopped, computed from its log: no model is asked. All of it is filtered. */
export interface Digest {
  /** What the user asked first, and last; the newest at the end. */
  goal: { first?: string; latest: string[] }
  /** Sentences in which the agent said what it decided, and prompts in which the user corrected it. */
  decisions: { by: 'agent' | 'user'; text: string }[]
  /** The most changed first. */
  files: FileCount[]
  /** Changes to files whose paths the archive does not keep. */
  unnamed_changes: number
  /** Commands that failed, the newest last. */
  failed: FailedCommand[]
  open: OpenEnds
  turns: number
  last_at?: Instant
}

export interface FileCount {
  path: string
  changes: number
  reads: number
}

export interface FailedCommand {
  command: string
  /** The last line of its output that looks like an error. */
  error?: string
  times: number
  /** The same command succeeded later. */
  is_mended: boolean
}

export interface OpenEnds {
  /** How the last turn ended: `open` when its log does not say. */
  turn: 'none' | 'completed' | 'aborted' | 'failed' | 'open'
  error?: string
  /** What the agent asked, and nobody answered. */
  question?: string
  /** Calls of the last turn that have no result: they wait for a permission, or were cut off. */
  calls: string[]
  todo: string[]
  last_reply?: string
}

/** As much of a text as the digest may need of it. */
const TEXT_MOST = 4_000
const LATEST_PROMPTS = 3
const LATEST_TURNS = 8
/** Sentences, corrections and failures that are remembered: the newest. */
const REMEMBERED = 24
const FILES_MOST = 4_000
const SENTENCE_MOST = 400

const DECIDED =
  /\b(?:decided|(?:I|we) chose|opted|settled on|went with|going with|go with|stick(?:ing)? with|instead of|rather than|root cause|turns out|(?:I|we)(?:['’]ll| will) (?:use|keep|switch|leave|avoid|skip)|let['’]s (?:use|keep))\b/i
const CORRECTS =
  /^(?:no\b|nope\b|not\b|don['’]t\b|do not\b|stop\b|wait\b|actually\b|instead\b|wrong\b|that['’]s (?:not|wrong)|revert\b|undo\b)|\b(?:instead of|rather than|don['’]t (?:use|do|touch|change|add)|should(?:n['’]t| not)|must not|never)\b/i
const ERROR_LINE = /error|fail|fatal|exception|denied|not found|no such|panic|refused|cannot|unable/i
/** The command that collects this has no result yet, and a successor must not repeat it. */
const HANDS_OFF = /\bskein(?:\.js)?['"]?\s(?:.*\s)?(?:handoff|done)\b/
/** A list of questions, a heading or a line of code is no question to the user. */
const ASKS = /\?\s*(?:["'”’)*_]*)\s*$/

interface TurnNote {
  number: number
  prompt: string
  by: Of<'turn'>['by']
  message?: string
  parts: Map<string, string>
  outcome: OpenEnds['turn']
  error?: string
  /** A question asked by a tool, by its call, until there is a result. */
  asked: Map<string, string>
}

/** A call, until it is known how it went. */
interface CallNote {
  fact: Of<'tool-call'>
  how: 'changes' | 'reads'
  paths: readonly string[]
  /** It changes files whose paths are not kept. */
  isUnnamed: boolean
  hasResult?: true
}

interface CommandNote {
  turn: number
  fact: Of<'tool-call'>
  result?: Of<'tool-result'>
  key: string
}

/**
 * Folds the facts of one conversation, in the order of its log, into a digest. It holds a few hundred texts whatever the length of the log:
 * the first prompt and the newest of everything else.
 */
export class DigestFold {
  #first: Of<'turn'> | undefined
  #turns = new Map<number, TurnNote>()
  #prompts: Of<'turn'>[] = []
  #said = new Map<string, Of<'said'>>()
  #files = new Map<string, { fact: Of<'tool-call'>; changes: number; reads: number }>()
  #unnamed = 0
  #running = new Map<string, CommandNote>()
  #calls = new Map<string, CallNote>()
  #failed: CommandNote[] = []
  #succeeded = new Map<string, number>()
  #list: { fact: Of<'tool-call'>; item: ListItem }[] = []
  /** Calls that made an item whose id is in the result. */
  #making = new Map<string, ListItem>()
  #abandoned: ReadonlySet<number> = new Set()
  #count = 0
  #order = 0
  #failedOrder = new WeakMap<CommandNote, number>()
  #last: Instant | undefined

  add(fact: Fact): void {
    switch (fact.kind) {
      case 'restart':
        this.#forget()
        break
      case 'checkpoint':
        this.#abandoned = new Set(fact.head.abandoned)
        break
      case 'turn':
        if (fact.agent === undefined) this.#turn(fact)
        break
      case 'said':
        if (fact.agent === undefined) this.#saying(fact)
        break
      case 'tool-call':
        this.#call(fact)
        break
      case 'tool-result':
        this.#result(fact)
        break
      case 'mark':
        if (fact.agent === undefined) this.#mark(fact)
    }
  }

  /** `kept` makes of a fact what may be kept of it. Asked once, at the end. */
  digest(kept: (fact: Fact) => Fact | undefined): Digest {
    const isLive = ({ turn }: { turn: number }): boolean => !this.#abandoned.has(turn)
    const text = (fact: Of<'turn'> | Of<'said'>): string => {
      const now = kept(fact)
      return (now?.kind === 'turn' ? now.prompt : now?.kind === 'said' ? now.text : '').trim()
    }
    const words = (raw: string): string =>
      raw === '' ? '' : text({ kind: 'said', turn: 0, message: '', part: '', text: raw })
    const latest = this.#prompts.filter(isLive).filter((fact) => fact.turn !== this.#first?.turn)
    const first = this.#first && text(this.#first)
    const open = this.#openEnds(isLive, kept, words)
    // What has not happened is an open end, and no change.
    for (const call of this.#pending(isLive)) {
      this.#undone(call)
      this.#calls.delete(call.fact.call)
    }
    return {
      goal: {
        ...(first ? { first } : {}),
        latest: latest
          .slice(-LATEST_PROMPTS)
          .map(text)
          .filter((one) => one !== ''),
      },
      decisions: this.#decisions(isLive, words, text),
      files: this.#fileCounts(kept, words),
      unnamed_changes: this.#unnamed,
      failed: this.#failures(isLive, kept),
      open,
      turns: this.#count,
      ...(this.#last ? { last_at: this.#last } : {}),
    }
  }

  #forget(): void {
    this.#first = undefined
    this.#turns.clear()
    this.#prompts = []
    this.#said.clear()
    this.#files.clear()
    this.#unnamed = 0
    this.#running.clear()
    this.#calls.clear()
    this.#failed = []
    this.#succeeded.clear()
    this.#list = []
    this.#making.clear()
    this.#count = 0
  }

  #turn(fact: Of<'turn'>): void {
    const prompt = fact.prompt.slice(0, TEXT_MOST)
    const isNew = !this.#turns.has(fact.turn)
    const note = this.#note(fact.turn)
    note.prompt = prompt
    note.by = fact.by
    if (fact.at) this.#last = fact.at
    if (isNew) this.#count += 1
    if (fact.by === 'tool' || prompt.trim() === '') return
    const clipped = { ...fact, prompt }
    this.#first ??= clipped
    const before = this.#prompts.findIndex(({ turn }) => turn === fact.turn)
    if (before >= 0) this.#prompts[before] = clipped
    else this.#prompts.push(clipped)
    // Corrections are prompts too, so more of them are held than are shown.
    if (this.#prompts.length > REMEMBERED) this.#prompts.shift()
  }

  #note(number: number): TurnNote {
    const known = this.#turns.get(number)
    if (known) return known
    const note: TurnNote = { number, prompt: '', by: 'tool', parts: new Map(), outcome: 'open', asked: new Map() }
    this.#turns.set(number, note)
    if (this.#turns.size > LATEST_TURNS) for (const [oldest] of this.#turns) return this.#drop(oldest, note)
    return note
  }

  #drop(oldest: number, note: TurnNote): TurnNote {
    this.#turns.delete(oldest)
    return note
  }

  #saying(fact: Of<'said'>): void {
    if (fact.at) this.#last = fact.at
    const note = this.#note(fact.turn)
    if (note.message !== fact.message) {
      note.message = fact.message
      note.parts = new Map()
    }
    note.parts.set(fact.part, fact.text)
    if (note.outcome === 'completed') note.outcome = 'open'
    if (!DECIDED.test(fact.text.length > TEXT_MOST ? fact.text.slice(0, TEXT_MOST) : fact.text)) return
    const key = `${fact.message}\0${fact.part}`
    this.#said.delete(key)
    this.#said.set(key, { ...fact, text: fact.text.slice(0, TEXT_MOST) })
    if (this.#said.size > REMEMBERED) for (const oldest of this.#said.keys()) return void this.#said.delete(oldest)
  }

  #call(fact: Of<'tool-call'>): void {
    if (fact.at) this.#last = fact.at
    const meaning = meaningOf(fact.name, fact.arguments)
    switch (meaning.kind) {
      case 'changes':
      case 'reads':
        this.#called(fact, meaning.kind, meaning.paths)
        break
      case 'runs':
        this.#noted({ fact, how: 'changes', paths: meaning.paths, isUnnamed: false })
        this.#running.set(fact.call, { turn: fact.turn, fact, key: commandKey(meaning.command) })
        dropOldest(this.#running)
        break
      case 'list':
        if (fact.agent === undefined) this.#items(fact, meaning.items, meaning.isWhole)
        break
      case 'asks':
        if (fact.agent === undefined) this.#note(fact.turn).asked.set(fact.call, meaning.question)
        break
      case 'other':
        this.#called(fact, 'reads', [])
    }
  }

  /** Whole files pass through such a call: only what is needed to ask the policy is held. */
  #called(fact: Of<'tool-call'>, how: CallNote['how'], paths: readonly string[]): void {
    const small = { ...fact, arguments: paths.length === 0 ? {} : { path: paths[0] } }
    this.#noted({ fact: small, how, paths, isUnnamed: how === 'changes' && paths.length === 0 })
  }

  #noted(note: CallNote): void {
    this.#calls.set(note.fact.call, note)
    dropOldest(this.#calls)
    if (note.isUnnamed) this.#unnamed += 1
    for (const path of note.paths) this.#touch(path, note.how, note.fact)
  }

  /** A call that failed or was refused has changed nothing. */
  #undone({ how, paths, isUnnamed }: CallNote): void {
    if (isUnnamed) this.#unnamed -= 1
    for (const path of paths) {
      const known = this.#files.get(path)
      if (!known) continue
      known[how] -= 1
      if (known.changes + known.reads <= 0) this.#files.delete(path)
    }
  }

  #touch(path: string, how: 'changes' | 'reads', fact: Of<'tool-call'>): void {
    const known = this.#files.get(path)
    if (known) {
      known[how] += 1
      return
    }
    if (this.#files.size >= FILES_MOST) return
    const small = { ...fact, arguments: { path } }
    this.#files.set(path, { fact: small, changes: 0, reads: 0, [how]: 1 })
  }

  #items(fact: Of<'tool-call'>, items: readonly ListItem[], isWhole: boolean): void {
    if (isWhole) {
      this.#list = items.map((item) => ({ fact, item: { ...item } }))
      return
    }
    for (const item of items) {
      const known = item.id === undefined ? undefined : this.#list.find((one) => one.item.id === item.id)?.item
      if (known) {
        known.status = item.status
        known.text = item.text ?? known.text
        continue
      }
      const made = { ...item }
      this.#list.push({ fact, item: made })
      if (made.id === undefined) this.#making.set(fact.call, made)
    }
  }

  #result(fact: Of<'tool-result'>): void {
    if (fact.at) this.#last = fact.at
    for (const note of this.#turns.values()) note.asked.delete(fact.call)
    const called = this.#calls.get(fact.call)
    if (called) called.hasResult = true
    if (called && fact.success === false) this.#undone(called)
    if (fact.success !== undefined) this.#calls.delete(fact.call)
    const made = this.#making.get(fact.call)
    const id = made && /#?(\d+)/.exec(fact.result)?.[1]
    if (made && id !== undefined) made.id = id
    const command = this.#running.get(fact.call)
    if (!command) return
    this.#order += 1
    if (fact.success === false) {
      const failed = { ...command, result: fact }
      this.#failedOrder.set(failed, this.#order)
      this.#failed.push(failed)
      if (this.#failed.length > REMEMBERED) this.#failed.shift()
    } else if (this.#failed.length > 0 && fact.success !== undefined) this.#succeeded.set(command.key, this.#order)
    if (fact.success !== undefined) this.#running.delete(fact.call)
  }

  #mark(fact: Of<'mark'>): void {
    if (fact.mark === 'timed' || fact.mark === 'compacted') return
    const note = this.#note(fact.turn)
    note.outcome = fact.mark
    if (fact.mark === 'failed' && fact.detail) note.error = fact.detail
  }

  /** Calls of the last turn that nobody has answered: they have not happened, or it is not known. */
  #pending(isLive: (fact: { turn: number }) => boolean): CallNote[] {
    const last = this.#lastTurn(isLive)
    if (!last || last.outcome === 'completed') return []
    const isOpen = ({ fact, hasResult }: CallNote): boolean =>
      !hasResult && fact.turn === last.number && fact.agent === undefined
    return [...this.#calls.values()].filter(isOpen)
  }

  #lastTurn(isLive: (fact: { turn: number }) => boolean): TurnNote | undefined {
    const turns = [...this.#turns.values()].filter(({ number }) => isLive({ turn: number }))
    return turns.reduce<TurnNote | undefined>((a, b) => (a && a.number > b.number ? a : b), undefined)
  }

  #decisions(
    isLive: (fact: { turn: number }) => boolean,
    words: (text: string) => string,
    text: (fact: Of<'turn'>) => string,
  ): Digest['decisions'] {
    const agent = [...this.#said.values()].filter(isLive).flatMap((fact) => {
      const sentence = sentencesOf(fact.text).find((one) => DECIDED.test(one))
      return sentence === undefined ? [] : [{ at: fact.turn, by: 'agent' as const, text: words(sentence) }]
    })
    const user = this.#prompts
      .filter((fact) => isLive(fact) && fact.turn !== this.#first?.turn && CORRECTS.test(fact.prompt.trim()))
      .map((fact) => ({ at: fact.turn, by: 'user' as const, text: text(fact).slice(0, SENTENCE_MOST) }))
    return [...agent, ...user]
      .filter((one) => one.text !== '')
      .sort((a, b) => a.at - b.at)
      .map(({ by, text: said }) => ({ by, text: said }))
  }

  /** A path is shown unless the policy keeps nothing of such a call: it is what the call was about, not what was written. */
  #fileCounts(kept: (fact: Fact) => Fact | undefined, words: (text: string) => string): FileCount[] {
    const all = [...this.#files.entries()].map(([path, counts]) => ({ path, ...counts }))
    return all
      .sort((a, b) => b.changes - a.changes || b.reads - a.reads || (a.path < b.path ? -1 : 1))
      .slice(0, REMEMBERED * 2)
      .flatMap(({ path, fact, changes, reads }) => {
        const now = kept(fact)
        const isKept = now?.kind === 'tool-call' && Object.keys(now.arguments).length > 0
        const shown = isKept ? words(path) : ''
        return shown === '' ? [] : [{ path: shown, changes, reads }]
      })
  }

  #failures(isLive: (fact: { turn: number }) => boolean, kept: (fact: Fact) => Fact | undefined): FailedCommand[] {
    const byKey = new Map<string, FailedCommand>()
    for (const note of this.#failed.filter(isLive)) {
      const call = kept(note.fact)
      const result = note.result && kept(note.result)
      const meaning = call?.kind === 'tool-call' ? meaningOf(note.fact.name, call.arguments) : undefined
      const command = meaning?.kind === 'runs' ? commandKey(meaning.command) : ''
      if (command === '') continue
      const error = result?.kind === 'tool-result' ? errorLine(result.result) : undefined
      const times = (byKey.get(note.key)?.times ?? 0) + 1
      const is_mended = (this.#succeeded.get(note.key) ?? 0) > (this.#failedOrder.get(note) ?? 0)
      byKey.delete(note.key)
      byKey.set(note.key, { command, times, is_mended, ...(error ? { error } : {}) })
    }
    return [...byKey.values()]
  }

  #openEnds(
    isLive: (fact: { turn: number }) => boolean,
    kept: (fact: Fact) => Fact | undefined,
    words: (text: string) => string,
  ): OpenEnds {
    const turns = [...this.#turns.values()].filter(({ number }) => isLive({ turn: number }))
    const last = this.#lastTurn(isLive)
    const reply = [...turns].sort((a, b) => b.number - a.number).find(({ parts }) => textIn(parts) !== '')
    const said = words(reply ? textIn(reply.parts).slice(-TEXT_MOST) : '')
    const asked = last && [...last.asked.values()].at(-1)
    const isLastReply = reply !== undefined && reply === last
    const question = asked ? words(asked) : isLastReply && ASKS.test(said) ? (sentencesOf(said).at(-1) ?? '') : ''
    const outcome = last?.outcome === 'open' && isLastReply && last.asked.size === 0 ? 'open' : last?.outcome
    return {
      turn: outcome ?? 'none',
      calls: this.#pending(isLive).flatMap(({ fact, paths: [path = ''] }) => {
        const now = kept(fact)
        if (now?.kind !== 'tool-call') return []
        const meaning = meaningOf(fact.name, now.arguments)
        const isNamed = Object.keys(now.arguments).length > 0
        const about = meaning.kind === 'runs' ? commandKey(meaning.command) : isNamed ? words(path) : ''
        if (meaning.kind === 'runs' && HANDS_OFF.test(about)) return []
        return [`${now.name} ${about}`.trim()]
      }),
      ...(last?.error ? { error: words(last.error) } : {}),
      ...(question ? { question } : {}),
      todo: this.#list.flatMap(({ fact, item }) => {
        if (item.status !== 'open' || item.text === undefined) return []
        const now = kept({ ...fact, arguments: { text: item.text } })
        const text = now?.kind === 'tool-call' ? now.arguments.text : undefined
        return typeof text === 'string' ? [text] : []
      }),
      ...(said ? { last_reply: said } : {}),
    }
  }
}

function dropOldest(notes: Map<string, unknown>): void {
  if (notes.size > FILES_MOST) for (const oldest of notes.keys()) return void notes.delete(oldest)
}

const textIn = (parts: ReadonlyMap<string, string>): string => [...parts.values()].join('\n').trim()

function sentencesOf(text: string): string[] {
  return text
    .split(/(?<=[.!?])\s+|\n+/)
    .map((one) => one.trim().slice(0, SENTENCE_MOST))
    .filter((one) => one !== '')
}

/** The last line that looks like an error, else the last line. */
function errorLine(output: string): string | undefined {
  const lines = output
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  return lines.findLast((line) => ERROR_LINE.test(line)) ?? lines.at(-1)
}

/** The digest of these facts. */
export function digestOf(facts: Iterable<Fact>, kept: (fact: Fact) => Fact | undefined): Digest {
  const fold = new DigestFold()
  for (const fact of facts) fold.add(fact)
  return fold.digest(kept)
}
