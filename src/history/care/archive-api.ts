import type { Instant, Session } from '../../model/index.js'
import type { Fact } from '../../tools/index.js'

/** What was said, kept when the tools have deleted their logs. */
export interface ArchiveBook {
  /** Newest first. */
  list(filter?: { session?: string; gone?: boolean }): Promise<ArchivedLog[]>
  stats(): Promise<ArchiveStats>
  /** Reads all of it, and compares it with the history and with the logs that are still there. Changes nothing. */
  verify(): Promise<ArchiveCheck>
  /** All that is kept of a session: its own log first, those of its sub-agents after it. `version`: an older one of its own log. */
  restore(reference: string, options?: { version?: number }): Promise<RestoredSession>
  /** Removes what the settings no longer keep, of logs that their tools have deleted. Nothing is removed without settings. */
  prune(options?: { dryRun?: boolean }): Promise<ArchivePrune>
}

export interface ArchivedLog {
  tool: string
  session?: string
  /** Set for the log of a sub-agent. */
  agent?: string
  /** Where its tool kept it. */
  path: string
  /** `grown`: there is more in it than was archived. */
  log: 'there' | 'grown' | 'gone'
  /** Still being written to, so not compressed yet. */
  is_live: boolean
  facts: number
  /** Before compression, and on the disk with older versions. */
  bytes: number
  stored_bytes: number
  /** Of when its tool last wrote to it. */
  modified_at: Instant
  /** Kept from before it was rewritten and lost some of what it said. */
  older_versions: { version: number; superseded_at?: Instant }[]
}

export interface ArchiveRetention {
  /** Absent when nothing is removed for its age, or for its size. */
  max_age?: string
  max_bytes?: number
  config_file: string
}

export interface ArchiveStats {
  logs: number
  sessions: number
  live: number
  /** Logs that only the archive still has. */
  gone: number
  older_versions: number
  facts: number
  bytes: number
  stored_bytes: number
  /** Stored bytes by bytes. */
  ratio: number
  oldest?: Instant
  newest?: Instant
  by_tool: Record<string, { logs: number; stored_bytes: number }>
  retention: ArchiveRetention
}

export interface ArchiveCheck {
  ok: boolean
  logs: number
  facts: number
  /** Logs that have grown since, and are archived further by the next ingest. */
  behind: number
  /** Compared with the log itself. */
  compared: number
  /** Logs that were read and are not here: before there was an archive, or removed from it on purpose. */
  not_archived: number
  /** One line each. */
  problems: string[]
}

export interface RestoredSession {
  session: Session
  logs: { tool: string; path: string; agent?: string; modified_at: Instant; facts: Fact[] }[]
  /** Parts that could not be read. */
  problems: string[]
}

export interface ArchivePrune {
  dry_run: boolean
  /** False when the settings keep everything. */
  is_configured: boolean
  logs: {
    tool: string
    session?: string
    path: string
    modified_at: Instant
    stored_bytes: number
    because: 'age' | 'size'
  }[]
  bytes_freed: number
}
