import type { AgentView } from '../../lifecycle/index.js'
import { STATUSES } from '../../model/index.js'
import { agentsNow, untilChange } from '../agents-now.js'
import { command } from '../command.js'
import { flag, optional } from '../input/input.js'
import { groupRef } from '../input/value-kind.js'
import { plural } from '../screen/plural.js'
import { runningAgentsView } from '../views/running-agents-view.js'

/** How often is looked without a daemon that tells. */
const LOOK_MS = 1_000

export const status = command({
  name: 'status',
  summary: 'Count agents by status',
  description:
    'And which of them wait for you or have failed. With --watch it says so again whenever something changes, one document per line with --json.',
  examples: [['skein status', 'At a glance']],
  args: {},
  options: {
    group: optional(groupRef, 'Only agents in this group or below', { aliases: ['rig'] }),
    watch: flag('Go on until interrupted', { short: 'w' }),
  },
  async run({ group, watch }, cli) {
    const { out } = cli
    const look = () => agentsNow(cli, group === undefined ? {} : { group })
    const say = (views: readonly AgentView[]): void => {
      const document = summaryOf(views)
      const draw = (screen: Parameters<typeof runningAgentsView>[1]): string => {
        const needy = runningAgentsView(document.attention, screen)
        const counts = STATUSES.flatMap((state) =>
          document.counts[state] ? [`${document.counts[state]} ${state}`] : [],
        )
        const line = `${plural(views.length, 'agent')}${counts.length > 0 ? `: ${counts.join(', ')}` : ''}`
        return needy === '' ? line : `${line}\n${needy}`
      }
      if (watch) out.item(document, draw)
      else out.result(document, draw)
    }
    let last = await look()
    say(last)
    const signal = watch ? cli.interrupted() : undefined
    while (signal && !signal.aborted) {
      await untilChange(cli, LOOK_MS, signal)
      const now = await look()
      if (keyOf(now) !== keyOf(last)) say(now)
      last = now
    }
  },
})

function summaryOf(views: readonly AgentView[]) {
  const counts: Record<string, number> = {}
  for (const { status: state } of views) counts[state] = (counts[state] ?? 0) + 1
  const attention = views.filter(({ status: state }) => state === 'waiting' || state === 'error' || state === 'unknown')
  return { agents: views.length, counts, attention }
}

const keyOf = (views: readonly AgentView[]): string =>
  JSON.stringify(
    views.map(({ id, status: state, since, waiting_for, reason }) => [id, state, since, waiting_for, reason]),
  )
