import type { Home } from '../../home/index.js'
import type { Spent } from '../../index/index.js'
import type { ExportSource } from '../../interchange/index.js'
import type { Session } from '../../model/index.js'
import type { Cli } from '../command.js'

/** One session, or with `chain` (and for a unit of work) all that carried the same line of work, in their order. */
export async function sessionsNamed({ sessions }: Home, reference: string, chain: boolean): Promise<Session[]> {
  if (!chain) {
    try {
      return [await sessions.find(reference)]
    } catch (error) {
      if ((error as { code?: string }).code !== 'session-not-found') throw error
      // Not a session, so it may be a unit of work; if it is not, the error is the same.
    }
  }
  return (await sessions.chain(reference)).flatMap((one) => one.sessions)
}

/** Each session's turns with the policy that holds where it worked. */
export async function exportSources(
  { history, privacy }: Home,
  sessions: readonly Session[],
  { cwd }: Pick<Cli, 'cwd'>,
): Promise<ExportSource[]> {
  const sources: ExportSource[] = []
  const costs = await history.spent(sessions.map((session) => session.id))
  for (const session of sessions) {
    const policy = await privacy.policyAt(session.cwd ?? cwd)
    const spent = costs.get(session.id)
    // The export filters it, and counts what it leaves out.
    const turns = await history.turns(session.id, { verbatim: true })
    sources.push({ history: turns, policy, ...(spent ? { spent: onlyCost(spent) } : {}) })
  }
  return sources
}

const onlyCost = ({ calls, micro_usd, unpriced_calls }: Spent): NonNullable<ExportSource['spent']> => ({
  calls,
  micro_usd,
  unpriced_calls,
})
