import { join } from 'node:path'
import type { Home } from '../../home/index.js'
import type { Context, Role } from '../../model/index.js'
import { AgentRuns } from '../agent-runs.js'
import { findAgent } from '../find-agent.js'
import { parkedAround } from '../sling/admission.js'
import { isTooSoon, saveHandoff } from './handoff.js'

const REASON = 'compaction'

/**
 * What happens before a program compacts its context, as the agent's role says (`precompact`): `auto` saves a handoff for the same
 * conversation, `cycle` also restarts the program in it, `off` does nothing. A restart ends the process that asks, so it is carried out
 * by another one. A compaction that somebody typed is only saved: they want it compacted, and a restart would take that back. In a parked
 * group, too: nothing starts there.
 * True when that restart is under way: a hook that returned now would let the program compact, answer and be idle before it is ended.
 */
export async function beforeCompaction(
  { home, context }: { home: Home; context: Context },
  { agent: reference, isByHand = false }: { agent: string; isByHand?: boolean },
  detach?: (args: readonly string[], options: { input: string; log: string }) => Promise<void> | void,
): Promise<boolean> {
  const agent = await findAgent(home, reference)
  const runs = new AgentRuns(home, context)
  const wanted = (await home.programs.roles()).of(agent)?.precompact ?? 'auto'
  // A conversation that is as full after its restart is compacted all the same, and what it has to know is saved.
  const isLoop = wanted === 'cycle' && isTooSoon({ context }, await runs.read(agent.id))
  const isParked = wanted === 'cycle' && parkedAround(await home.roster.groups(), agent.address) !== undefined
  switch (isLoop || isParked || isByHand || !detach ? savedOnly(wanted) : wanted) {
    case 'off':
      return false
    case 'auto':
      await saveHandoff({ home, context, runs, environment: await home.programs.environment() }, agent, REASON)
      return false
    case 'cycle': {
      const log = join(home.paths.agents, 'detached.log')
      const args = [
        '--profile',
        home.profile,
        'handoff',
        `--agent=${agent.id}`,
        '--cycle',
        `--reason=${REASON}`,
        '--yes',
      ]
      await detach?.(args, { input: '', log })
      return true
    }
  }
}

const savedOnly = (wanted: Role['precompact']): Role['precompact'] => (wanted === 'off' ? 'off' : 'auto')
