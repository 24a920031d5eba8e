import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { guardedText, makeDirectory, namesIn, writeAtomic } from '../../disk/index.js'
import { type AgentId, isAgentId, readJson, type SessionId, shapes } from '../../model/index.js'
import { type IdentityLock, isIdentityLock, lifeOfHolder } from './identity-lock.js'

const { isObject, misfit, shape } = shapes

const DIRECTORY = 'outside'
const SUFFIX = '.json'
const MOST_BYTES = 16 * 1024

/** A session of a program that its user has started, with its process: whatever ends the program, the session ends with it. */
export interface OutsideSession {
  v: 1
  session: SessionId
  agent?: AgentId
  process: IdentityLock
}

const OUTSIDE_SESSION = shape({ session: shapes.text, 'agent?': isAgentId, process: isIdentityLock })

/** Those that an installed hook reported and that have not ended: one small file each, beside the agents' own. */
export class OutsideSessions {
  readonly #directory: string

  constructor(agents: string) {
    this.#directory = join(agents, DIRECTORY)
  }

  note(one: OutsideSession): void {
    makeDirectory(this.#directory)
    writeAtomic(this.#path(one.session), `${JSON.stringify(one)}\n`, { durable: false })
  }

  has(session: SessionId): boolean {
    return this.#read(session) !== undefined
  }

  forget(session: SessionId): void {
    rmSync(this.#path(session), { force: true })
  }

  all(): OutsideSession[] {
    return namesIn(this.#directory)
      .filter((name) => name.endsWith(SUFFIX) && !name.startsWith('.'))
      .flatMap((name) => this.#read(name.slice(0, -SUFFIX.length)) ?? [])
  }

  #path(session: string): string {
    return join(this.#directory, `${session}${SUFFIX}`)
  }

  /** What cannot be read was not written by us, or not completely. */
  #read(session: string): OutsideSession | undefined {
    const value = readJson(guardedText(this.#path(session), MOST_BYTES) ?? '')
    const isOurs =
      isObject(value) && value.v === 1 && value.session === session && misfit(value, OUTSIDE_SESSION) === undefined
    return isOurs ? (value as unknown as OutsideSession) : undefined
  }
}

/** False only when it is certain that the process is gone. */
export const mayLive = ({ process }: OutsideSession): boolean => lifeOfHolder(process) !== 'dead'
