import { closeSync, lstatSync, readSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { FileLock, guardedText, ifThere, makeDirectory, namesIn, openGuarded, writeAtomic } from '../disk/index.js'
import { type Instant, instantOf, readJson } from '../model/index.js'

const SUFFIX = '.msg'
const MAX_BYTES = 1024 * 1024
/** So much of a message that cannot be used is kept to look at, and so many of them. */
const BAD_BYTES = 64 * 1024
const BAD_KEPT = 50
/** A temporary file of a hook that was killed is of no use to anyone after this. */
const ABANDONED_MS = 3_600_000
/** A taker works for milliseconds. One that does not come to an end must not stop the others' commands. */
const TAKER_WAIT_MS = 2_000
/** After this long a taker leaves the rest to the next one. */
const TAKING_MS = 3_000
/** So much is held in memory at once. */
const BATCH = 1_000
const BATCH_CHARS = 8 * 1024 * 1024

/** A message that a program left for us. */
export interface SpooledMessage {
  agent: string
  run: string
  tool: string
  /** The process that gave it, where it is known. */
  pid?: number
  /** What the program said: parsed if it is JSON, else its text. */
  payload: unknown
  at: Instant
}

export interface Intake {
  taken: number
  /** Messages that could not be read; they are in `bad/`. */
  bad: number
}

/** Whom a message is from. Names that we chose, so they need no escaping beyond JSON's. */
export interface Sender {
  agent: string
  run: string
  tool: string
}

/**
 * The directory in which hooks leave their messages, whether or not anything of ours is running. A message is one file:
 * a line of JSON that says whom it is from, then the payload as the program gave it. It is written under a name with a dot
 * in front and then renamed, so what ends in `.msg` is whole.
 */
export class Spool {
  constructor(readonly directory: string) {}

  prepare(): void {
    makeDirectory(this.directory)
  }

  /** Whether anything waits to be taken. One directory listing. */
  isEmpty(): boolean {
    return this.#names().length === 0
  }

  /**
   * Hands the messages to `apply`, many at a time and oldest first, and removes them once their effect is stored. One taker at a time:
   * another process waits, and finds nothing left. Messages whose taker was killed before they were removed are taken again, so an
   * effect must bear being stored twice. Those that `apply` rejects stay, with all that came after them. Of a flood the rest is left to
   * the next taker after a while.
   */
  async takeAll(apply: (messages: SpooledMessage[]) => Promise<void>): Promise<Intake> {
    const intake: Intake = { taken: 0, bad: 0 }
    if (this.isEmpty()) return intake
    using _held = await this.hold(TAKER_WAIT_MS)
    const until = performance.now() + TAKING_MS
    const waiting = this.#inOrder()
    for (let from = 0; from < waiting.length && performance.now() < until; ) {
      const { messages, names, bad } = this.#readSome(waiting, from)
      if (messages.length > 0) await apply(messages)
      for (const name of names) rmSync(join(this.directory, name), { force: true })
      for (const name of bad) this.#setAside(name)
      from += names.length + bad.length
      intake.taken += names.length
      intake.bad += bad.length
    }
    return intake
  }

  /** Keeps takers out. */
  async hold(waitMs: number): Promise<Disposable> {
    return new FileLock(join(this.directory, '.lock')).hold(waitMs)
  }

  /** How many messages could not be read, as far as they are still kept. */
  badCount(): number {
    return namesIn(join(this.directory, 'bad')).length
  }

  /** Removes what hooks that were killed have left half written. */
  sweep(nowMs: number): void {
    for (const name of namesIn(this.directory)) {
      if (!name.startsWith('.') || name.startsWith('.lock')) continue
      const path = join(this.directory, name)
      const { mtimeMs = nowMs } = statSync(path, { throwIfNoEntry: false }) ?? {}
      if (nowMs - mtimeMs > ABANDONED_MS) rmSync(path, { force: true })
    }
  }

  #names(): string[] {
    return namesIn(this.directory).filter((name) => name.endsWith(SUFFIX) && !name.startsWith('.'))
  }

  #inOrder(): { name: string; atMs: number }[] {
    return this.#names()
      .map((name) => ({ name, nanos: nanosOf(join(this.directory, name), name) }))
      .sort((a, b) => (a.nanos === b.nanos ? (a.name < b.name ? -1 : 1) : a.nanos < b.nanos ? -1 : 1))
      .map(({ name, nanos }) => ({ name, atMs: Number(nanos / 1_000_000n) }))
  }

  /** Those that fit into memory, beginning with one of those that wait. */
  #readSome(
    waiting: readonly { name: string; atMs: number }[],
    from: number,
  ): { messages: SpooledMessage[]; names: string[]; bad: string[] } {
    const [messages, names, bad]: [SpooledMessage[], string[], string[]] = [[], [], []]
    let chars = 0
    for (const { name, atMs } of waiting.slice(from, from + BATCH)) {
      const content = guardedText(join(this.directory, name), MAX_BYTES) ?? ''
      const message = messageIn(content, instantOf(atMs))
      if (message) messages.push(message)
      ;(message ? names : bad).push(name)
      chars += content.length
      if (chars >= BATCH_CHARS) break
    }
    return { messages, names, bad }
  }

  #setAside(name: string): void {
    const bad = join(this.directory, 'bad')
    makeDirectory(bad)
    const path = join(this.directory, name)
    const stat = lstatSync(path, { throwIfNoEntry: false })
    rmSync(join(bad, name), { recursive: true, force: true })
    if (stat?.isFile() && stat.size > BAD_BYTES) {
      writeAtomic(join(bad, name), beginningOf(path), { durable: false })
      rmSync(path, { force: true })
    } else ifThere(() => renameSync(path, join(bad, name)))
    for (const old of namesIn(bad).sort().slice(0, -BAD_KEPT)) rmSync(join(bad, old), { recursive: true, force: true })
  }
}

/**
 * A line for `sh` that puts its standard input into the spool as a message. It is what hooks are configured with, so it
 * starts nothing but `date`, `cat` and `mv`, never fails and never prints: agents take a hook's output and its exit status
 * for decisions. `pid` is the word for the process that the message comes from. What it cannot store (a full disk, a home that is gone) it reads to the end and drops.
 */
export function spoolCommand(directory: string, { agent, run, tool }: Sender, pid = '"$PPID"'): string {
  const header = JSON.stringify({ v: 1, agent, run, tool }).slice(0, -1)
  // The name is the time, so that messages of one moment keep their order; the file's own time is coarser.
  return [
    `( umask 077; n="$(date +%s%N)-$$"; f=${quoted(`${directory}/.`)}"$n"`,
    `{ printf '%s%s}\\n' ${quoted(`${header},"pid":`)} ${pid} && cat; } >"$f"`,
    `mv -f "$f" ${quoted(`${directory}/`)}"$n${SUFFIX}" || { rm -f "$f"; cat; } ) >/dev/null 2>&1 || :`,
  ].join(' && ')
}

/** As one word of `sh`. */
export const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

function messageIn(text: string, at: Instant): SpooledMessage | undefined {
  const end = text.indexOf('\n')
  if (end < 0) return undefined
  const header = readJson(text.slice(0, end))
  if (typeof header !== 'object' || header === null) return undefined
  const { v, agent, run, tool, pid } = header as Record<string, unknown>
  if (v !== 1 || typeof agent !== 'string' || typeof run !== 'string' || typeof tool !== 'string') return undefined
  const isPid = typeof pid === 'number' && Number.isSafeInteger(pid) && pid > 1
  const body = text.slice(end + 1)
  return { agent, run, tool, ...(isPid ? { pid } : {}), payload: readJson(body) ?? body, at }
}

/** When it was written: from its name, or from the file where a name does not tell. */
function nanosOf(path: string, name: string): bigint {
  const told = /^(\d{19})-/.exec(name)?.[1]
  if (told) return BigInt(told)
  return statSync(path, { bigint: true, throwIfNoEntry: false })?.mtimeNs ?? 0n
}

function beginningOf(path: string): Uint8Array {
  const bytes = Buffer.alloc(BAD_BYTES)
  const file = openGuarded(path)
  try {
    return bytes.subarray(0, readSync(file, bytes, 0, BAD_BYTES, 0))
  } finally {
    closeSync(file)
  }
}
