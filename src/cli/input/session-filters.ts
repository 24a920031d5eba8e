import { resolve } from 'node:path'
import type { SessionFilter } from '../../home/index.js'
import { OUTCOMES } from '../../model/index.js'
import type { Cli } from '../command.js'
import { flag, optional, type Values } from './input.js'
import { present } from './present.js'
import { agentRef, choice, count, directory, freeText, groupRef, sessionRef, text, when } from './value-kind.js'

/** How `sessions list` and `sessions find` are narrowed down. */
export const FILTER_OPTIONS = {
  agent: optional(agentRef, 'Only sessions of this agent'),
  rig: optional(groupRef, 'Only sessions of agents in this group or below', { aliases: ['group'] }),
  tool: optional(text('tool'), 'Only sessions of this tool'),
  role: optional(text('role'), 'Only sessions in this role'),
  work: optional(text('unit'), 'Only sessions on this unit of work'),
  chain: optional(sessionRef, 'Only sessions of this chain'),
  since: optional(when, 'Started at or after: 1h, 7d, today, yesterday, 2026-01-17 or a full time'),
  until: optional(when, 'Started before'),
  outcome: optional(choice('outcome', ['active', ...OUTCOMES]), 'Only sessions that ended so'),
  title: optional(freeText('text'), 'Only sessions with this in their title'),
  in: optional(directory, 'Only sessions that work in this directory, or below'),
  limit: optional(count, 'At most this many', { short: 'n', fallback: '20' }),
  cursor: optional(text('cursor'), 'Go on where a page ended (its next_cursor)'),
  all: flag('Show all of them, however many'),
}

const PAGE = 20
const LARGE_PAGE = 1_000

/** The working directory is asked for only where a path is given: the one that a shell is in may be gone. */
export function queryOf(filters: Values<typeof FILTER_OPTIONS>, cli: Pick<Cli, 'cwd'>): SessionFilter {
  const { work, chain, all, limit, in: where, ...same } = filters
  return {
    ...present(same),
    ...present({ work_unit: work, chain_id: chain }),
    ...(where === undefined ? {} : { directory: resolve(cli.cwd, where) }),
    limit: limit ?? (all ? LARGE_PAGE : PAGE),
  }
}
