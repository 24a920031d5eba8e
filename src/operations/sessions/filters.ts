import type { Home, SessionFilter } from '../../home/index.js'
import { OUTCOMES } from '../../model/index.js'
import { flag, optional, type Values } from '../field.js'
import { agentRef, choice, count, freeText, groupRef, path, sessionRef, text, when } from '../kind.js'
import { present } from '../present.js'

/** How lists of sessions are narrowed down. */
export const FILTERS = {
  agent: optional(agentRef, 'Only sessions of this agent'),
  rig: optional(groupRef, 'Only sessions of agents in this group or below', { aliases: ['group'] }),
  tool: optional(text('tool'), 'Only sessions of this tool'),
  role: optional(text('role'), 'Only sessions in this role'),
  work: optional(text('unit'), 'Only sessions on this unit of work'),
  chain: optional(sessionRef, 'Only sessions of this chain'),
  since: optional(when, 'Started at or after: 1h, 7d, today, yesterday, 2026-01-17 or a full time'),
  until: optional(when, 'Started before'),
  outcome: optional(choice('outcome', ['active', ...OUTCOMES]), 'Only sessions with this outcome'),
  title: optional(freeText('text'), 'Only sessions with this in their title'),
  in: optional(path('directory', 'directory'), 'Only sessions that work in this directory, or below'),
  limit: optional(count, 'At most this many', { short: 'n', fallback: '20' }),
  cursor: optional(text('cursor'), 'Continue after a page (its next_cursor)'),
  all: flag('Show all of them'),
}

const PAGE = 20
const LARGE_PAGE = 1_000

export function filterOf(filters: Values<typeof FILTERS>): SessionFilter {
  const { work, chain, all, limit, in: directory, ...same } = filters
  return {
    ...present(same),
    ...present({ work_unit: work, chain_id: chain, directory }),
    limit: limit ?? (all ? LARGE_PAGE : PAGE),
  }
}

/** Filters by code, for lists that are not waited for at every prompt. */
export const CODE_FILTERS = {
  commit: optional(text('commit'), 'Only sessions that went into this commit'),
  repository: optional(path('directory', 'directory'), 'The repository of --commit, or a directory in it', {
    fallback: 'the working directory',
  }),
  touching: optional(path('path'), 'Only sessions that changed this file, or something in this directory'),
}

/** What the filters by code come to: which sessions are left. Nothing of it is loaded without them. */
export async function codeFilterOf(
  { commit, repository, touching }: Values<typeof CODE_FILTERS>,
  home: Home,
): Promise<Pick<SessionFilter, 'ids'>> {
  if (commit === undefined && touching === undefined) return {}
  const { sessionsInCommit, sessionsThatTouch } = await import('./by-code.js')
  const lists = [
    ...(commit === undefined ? [] : [await sessionsInCommit(home, repository, commit)]),
    ...(touching === undefined ? [] : [await sessionsThatTouch(home, touching)]),
  ]
  return { ids: lists.reduce((left, ids) => left.filter((id) => ids.includes(id))) }
}
