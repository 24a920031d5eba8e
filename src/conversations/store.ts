import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { explainDiskError, refuseDead } from '../disk/index.js'
import { type AgentName, parseAgentName } from './agent-name.js'
import { Conversations } from './conversations.js'
import { configFile, type Surroundings, systemSurroundings } from './environment.js'
import type { ResetPolicy } from './freshness.js'
import { type ConversationPolicies, policiesOf } from './policies.js'
import { FileRows } from './rows/file-rows.js'
import type { ConversationRows } from './rows/rows.js'
import { SqliteRows } from './rows/sqlite-rows.js'
import type { SendPolicyConfig } from './send-policy.js'
import { DEFAULT_SPAWN_LIMITS, type SpawnLimits } from './subagent.js'
import { SdkClaims } from './turn/sdk-claims.js'

/** `rows`: one SQLite database per agent. `files`: the original's `sessions.json`. Transcripts are the same files in both. */
export type Backend = 'rows' | 'files'

export interface StoreOptions {
  /** Holds `agents/<id>/…`; made when it is missing. */
  directory: string
  backend?: Backend
  surroundings?: Surroundings
  /** When conversations begin anew by themselves. Unless it is given, `[conversations.reset]` of the config file decides; else never. */
  resetPolicy?: ResetPolicy
  /** Where the agents may send. Unless it is given, `[conversations.send_policy]` of the config file decides; else everywhere. */
  sendPolicy?: SendPolicyConfig
  /** The config.toml with those settings. Unless it is given, that of SKEIN_HOME or of the user's XDG directory. */
  configFile?: string
  spawnLimits?: Partial<SpawnLimits>
}

/** All conversations below one directory, agent by agent. */
export class ConversationStore implements Disposable {
  readonly #open = new Map<AgentName, { rows: ConversationRows; conversations: Conversations }>()
  readonly #claims: SdkClaims
  readonly #policies: ConversationPolicies

  constructor(private readonly options: StoreOptions) {
    this.#claims = new SdkClaims(join(options.directory, 'sdk-sessions.db'))
    this.#policies = policiesOf(options.configFile ?? configFile(), options)
  }

  get backend(): Backend {
    return this.options.backend ?? 'rows'
  }

  /** The conversations of one agent; nothing reachable from the result can touch another's. */
  open(agentId: string): Conversations {
    const agent = parseAgentName(agentId)
    const known = this.#open.get(agent)
    if (known) return known.conversations
    const home = join(this.options.directory, 'agents', agent)
    const directory = join(home, 'sessions')
    const rows =
      this.backend === 'rows'
        ? new SqliteRows(join(home, 'conversations.db'))
        : new FileRows(join(directory, 'sessions.json'), agent)
    const conversations = new Conversations({
      agent,
      rows,
      directory,
      claims: this.#claims,
      surroundings: this.options.surroundings ?? systemSurroundings,
      policies: this.#policies,
      spawnLimits: { ...DEFAULT_SPAWN_LIMITS, ...this.options.spawnLimits },
    })
    this.#open.set(agent, { rows, conversations })
    return conversations
  }

  /** The agents that have a directory here. */
  agents(): AgentName[] {
    const directory = join(this.options.directory, 'agents')
    try {
      refuseDead(directory)
      const found = readdirSync(directory, { withFileTypes: true })
      return found.filter((entry) => entry.isDirectory()).flatMap((entry) => readableName(entry.name))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
      throw explainDiskError(error, directory)
    }
  }

  [Symbol.dispose](): void {
    for (const { rows } of this.#open.values()) rows[Symbol.dispose]()
    this.#open.clear()
    this.#claims[Symbol.dispose]()
  }
}

function readableName(name: string): AgentName[] {
  try {
    return parseAgentName(name) === name ? [name as AgentName] : []
  } catch {
    return []
  }
}
