import type { Database } from '../../disk/index.js'
import { parseSessionId, SkeinError } from '../../model/index.js'
import type { AgentName } from '../agent-name.js'
import { type DatabaseLayout, explainDatabaseError, openOwnedDatabase } from '../rows/owned-database.js'

const LAYOUT: DatabaseLayout = {
  application: 0x736b636c, // 'skcl'
  version: 1,
  schema: 'create table claims (sdk_session text primary key, agent text not null) strict',
}

/**
 * Which agent an SDK session belongs to: the first that bound it, for ever. An id is all it takes to resume a conversation,
 * so without this one agent could continue another's by writing its id into an entry.
 */
export class SdkClaims implements Disposable {
  #database: Database | undefined

  constructor(private readonly path: string) {}

  /** Claims the session for the agent, or throws because another has it. */
  claim(sdkSession: string, agent: AgentName): void {
    const id = parseSessionId(sdkSession)
    const owner = this.#using((database) => {
      database.prepare('insert or ignore into claims (sdk_session, agent) values (?, ?)').run(id, agent)
      return (database.prepare('select agent from claims where sdk_session = ?').get(id) as { agent: string }).agent
    })
    if (owner !== agent) throw foreign(id, owner)
  }

  #using<T>(body: (database: Database) => T): T {
    try {
      if (!this.#database) {
        this.#database = openOwnedDatabase(this.path, LAYOUT)
        this.#database.exec('pragma busy_timeout = 5000')
      }
      return body(this.#database)
    } catch (error) {
      throw explainDatabaseError(error, this.path)
    }
  }

  [Symbol.dispose](): void {
    this.#database?.close()
    this.#database = undefined
  }
}

const foreign = (id: string, owner: string): SkeinError =>
  new SkeinError(
    'foreign-conversation',
    `The SDK session ${id} belongs to agent "${owner}"`,
    'Run the turn without a binding to start a new session',
  )
