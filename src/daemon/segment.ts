/** What of an agent is counted. */
export interface Counted {
  readonly status: string
  readonly archived_at?: string | undefined
}

/** One segment for a status line: `!2 ✗1 ▶3`, of what there is any of. Nothing in it means anything to tmux or a shell. */
export function segmentOf(agents: readonly Counted[]): string {
  const counts = { '!': 0, '✗': 0, '▶': 0 }
  for (const { status, archived_at } of agents) {
    if (archived_at !== undefined) continue
    if (status === 'waiting') counts['!'] += 1
    else if (status === 'error') counts['✗'] += 1
    else if (status === 'running' || status === 'starting') counts['▶'] += 1
  }
  return Object.entries(counts)
    .filter(([, many]) => many > 0)
    .map(([mark, many]) => mark + many)
    .join(' ')
}
