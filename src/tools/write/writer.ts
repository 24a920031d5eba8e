import { createHash } from 'node:crypto'
import { type Instant, instantOf, msOf, type SessionId } from '../../model/index.js'
import type { Environment } from '../log/log-tool.js'
import type { Conversation, LeftOut, SpokenTurn } from './conversation.js'

/** Where a conversation is to be continued. */
export interface WriteTarget {
  session: SessionId
  /** The directory that the program will be started in. */
  cwd: string
  environment: Environment
  /** `provider/model`, for a tool whose log has to name one that it can reach. */
  model?: string
  now: Instant
}

/** A conversation in the form of one tool. Nothing is on the disk yet. */
export interface Written {
  session: SessionId
  /** The log itself is the first. Another is left out where its path is taken. */
  files: { path: string; content: string }[]
  /** For a tool whose store only its own program may change: it reads the first file, which has no place of its own. */
  import?: { argv: readonly [string, ...string[]]; cwd: string }
  /** What the log says, to be compared with what is read from it. */
  turns: SpokenTurn[]
  left_out: LeftOut[]
}

/** Writes a conversation as one tool's own log, so that its program resumes it. Pure: it returns what to write. */
export interface ConversationWriter {
  readonly tool: string
  /** A new id in the tool's own form. */
  newId(uuid: string): SessionId
  /** Whether the tool opens a conversation of this id. */
  takes(session: SessionId): boolean
  /** It keeps elsewhere how a conversation was written that Skein has begun for it, and opens no other log under that id. */
  readonly isBoundToBegun?: true
  /** The model that the program would use in a directory, where the log has to name one. */
  modelFor?(environment: Environment, cwd: string): string | undefined
  /** What prints the models that can be reached, one per line: for when `modelFor` finds none. */
  readonly modelList?: readonly [string, ...string[]]
  write(conversation: Conversation, target: WriteTarget): Written
}

/** Moments that rise with every line: programs sort by them. */
export class RisingClock {
  #last: number

  constructor(start: Instant) {
    this.#last = msOf(start) - 1
  }

  /** That moment, or the next free one behind the last. */
  at(moment?: Instant): Instant {
    this.#last = Math.max(this.#last + 1, moment === undefined ? 0 : msOf(moment))
    return instantOf(this.#last)
  }
}

/** Ids that are the same whenever the same conversation is written under the same id. */
export class MadeIds {
  #count = 0

  constructor(private readonly session: SessionId) {}

  hex(length: number): string {
    this.#count += 1
    return createHash('sha256').update(`${this.session}/${this.#count}`).digest('hex').slice(0, length)
  }

  uuid(): string {
    const hex = this.hex(32)
    return [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20)].join(
      '-',
    )
  }
}

/** When the conversation began, as far as its log says. */
export const beginningOf = ({ started_at, turns }: Conversation, now: Instant): Instant =>
  started_at ?? turns[0]?.at ?? now

export const linesOf = (records: readonly object[]): string =>
  records.map((record) => `${JSON.stringify(record)}\n`).join('')
