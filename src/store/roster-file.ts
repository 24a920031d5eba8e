import { existsSync, linkSync, renameSync, rmSync, statSync } from 'node:fs'
import { readPlain, writeAtomic } from '../disk/index.js'
import {
  type Agent,
  type EventId,
  type Group,
  isEventId,
  isNewer,
  isSoundAgent,
  isSoundGroup,
  readJson,
} from '../model/index.js'
import { isNewerFile } from './file-version.js'
import { setAside } from './set-aside.js'

const ROSTER_VERSION = 1
/** Newest first: the order of recovery. */
const GENERATIONS = ['', '.bak', '.bak.1', '.bak.2'] as const

/** The roster as its file holds it: everything up to an event. */
export interface RosterCheckpoint {
  agents: Agent[]
  groups: Group[]
  through: EventId | undefined
}

export interface RosterRecovery {
  checkpoint: RosterCheckpoint | undefined
  /** The generation it came from: the file itself, or which backup. */
  source: string | undefined
  /** Files that could not be read, under the dated names they were kept with. */
  kept: string[]
  /** Files that a newer Skein wrote: left as they are. */
  newer: string[]
}

/** Agents and groups in one file with three older generations beside it. */
export class RosterFile {
  constructor(readonly path: string) {}

  /** On the disk when this returns. The file before becomes `.bak`, that one `.bak.1`, that one `.bak.2`. */
  write({ agents, groups, through }: RosterCheckpoint, nowMs: number): void {
    const content = `${JSON.stringify({ v: ROSTER_VERSION, through, agents, groups }, undefined, 1)}\n`
    if (existsSync(this.path)) {
      const oldest = `${this.path}.bak.2`
      if (isNewerFile(oldest, ROSTER_VERSION)) setAside(oldest, 'newer', nowMs) // the next line would write over it
      for (const [older, newer] of [
        ['.bak.2', '.bak.1'],
        ['.bak.1', '.bak'],
      ] as const) {
        if (existsSync(this.path + newer)) renameSync(this.path + newer, this.path + older)
      }
      // A second name instead of a move: there is a roster.json at every moment.
      rmSync(`${this.path}.bak`, { force: true })
      linkSync(this.path, `${this.path}.bak`)
    } else if (!existsSync(`${this.path}.bak`)) {
      writeAtomic(`${this.path}.bak`, content, { durable: true }) // from the first day on, one damaged file is not the end
    }
    writeAtomic(this.path, content, { durable: true })
  }

  /** The file if it can be read, else the newest backup that can. What cannot be read is kept under a dated name. */
  recover(nowMs: number, options: { readOnly: boolean }): RosterRecovery {
    const kept: string[] = []
    const newer: string[] = []
    for (const generation of GENERATIONS) {
      const path = this.path + generation
      if (!existsSync(path)) continue
      const checkpoint = readCheckpoint(path)
      if (checkpoint === 'newer') newer.push(path)
      else if (checkpoint)
        return { checkpoint, source: generation === '' ? 'roster.json' : `roster.json${generation}`, kept, newer }
      else kept.push(options.readOnly ? path : setAside(path, 'damaged', nowMs))
    }
    return { checkpoint: undefined, source: undefined, kept, newer }
  }

  read(): RosterCheckpoint | 'newer' | undefined {
    return existsSync(this.path) ? readCheckpoint(this.path) : undefined
  }

  /**
   * What is folded into every generation that exists: events up to here may be pruned without hurting any recovery.
   * A single generation is not enough, because its loss would be final.
   */
  safeThrough(): EventId | undefined {
    const present = GENERATIONS.map((generation) => this.path + generation).filter((path) => existsSync(path))
    const throughs = present.map((path) => {
      const checkpoint = readCheckpoint(path)
      return typeof checkpoint === 'object' ? checkpoint.through : undefined
    })
    if (throughs.length < 2 || throughs.some((through) => through === undefined)) return undefined
    return throughs.reduce((lowest, through) => ((through ?? '') < (lowest ?? '') ? through : lowest))
  }

  /** Identifies the file as it is on disk, without reading it. */
  signature(): string | undefined {
    const stat = statSync(this.path, { bigint: true, throwIfNoEntry: false })
    return stat && `${stat.ino}:${stat.size}:${stat.mtimeNs}`
  }
}

function readCheckpoint(path: string): RosterCheckpoint | 'newer' | undefined {
  const value = readJson(readPlain(path)?.toString() ?? '')
  const { v, through, agents, groups } = (value ?? {}) as Record<string, unknown>
  if (isNewer(v, ROSTER_VERSION)) return 'newer'
  const isWhole =
    v === ROSTER_VERSION &&
    (through === undefined || isEventId(through)) &&
    Array.isArray(agents) &&
    agents.every(isSoundAgent) &&
    Array.isArray(groups) &&
    groups.every(isSoundGroup) &&
    hasNoTwins(agents)
  return isWhole ? { agents, groups, through } : undefined
}

/** No two agents have one id or one address. */
function hasNoTwins(agents: readonly Agent[]): boolean {
  return [agents.map(({ id }) => id), agents.map(({ address }) => address)].every(
    (names) => new Set<string>(names).size === names.length,
  )
}
