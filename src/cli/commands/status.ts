import type { AgentView } from '../../lifecycle/index.js'
import { STATUSES } from '../../model/index.js'
import {
  agentsList,
  agentsStatus,
  flag,
  present,
  readInput,
  type StatusSummary,
  summaryOf,
} from '../../operations/index.js'
import type { Cli, Command } from '../command.js'
import { operationCommand } from '../operation-command.js'
import { perform } from '../perform.js'
import { plural } from '../screen/plural.js'
import type { Screen } from '../screen/screen.js'
import type { Terminal } from '../screen/terminal.js'
import { untilChange } from '../until-change.js'
import { runningAgentsView } from '../views/running-agents-view.js'

/** How often agents are looked at when no daemon says that something changed. */
const LOOK_MS = 1_000
/** What leaves the watch: q, Q, Escape, Ctrl-C, Ctrl-D. Raw mode delivers the last two as characters. */
const LEAVE = new Set(['q', 'Q', '\x1b', '\x03', '\x04'])

const command = operationCommand(agentsStatus, {
  name: 'status',
  description: `${agentsStatus.description} With --watch, it redraws the terminal in place until q or Ctrl-C; elsewhere, and with --json, it prints one line or document per change.`,
  examples: [['skein status', 'At a glance']],
  own: { watch: flag('Keep watching until interrupted', { short: 'w' }) },
  view: summaryView,
})

export const status: Command = {
  ...command,
  async start(given, cli) {
    if (given.watch === undefined) return command.start(given, cli)
    const group = agentsStatus.input.group.read(given.group ?? [], cli)
    const look: Look = async () =>
      (await perform(agentsList, readInput(agentsList, present({ group }), cli), cli)).agents
    const taken = cli.out.json ? undefined : cli.terminal()
    const signal = cli.interrupted() // before the terminal is taken: a signal must find somebody who gives it back
    if (!taken) return printChanges(cli, look, signal)
    using terminal = await taken
    await redraw(cli, terminal, look, signal)
  },
}

type Look = () => Promise<AgentView[]>

async function printChanges(cli: Cli, look: Look, signal: AbortSignal): Promise<void> {
  let shown: string | undefined
  while (!signal.aborted) {
    const now = await look()
    const document = summaryOf(now)
    if (keyOf(now) !== shown) cli.out.item(document, (screen) => summaryView(document, screen))
    shown = keyOf(now)
    await untilChange(cli, LOOK_MS, signal)
  }
}

/** Draws over what was drawn before, so that nothing flickers; ages go on counting. */
async function redraw(cli: Cli, terminal: Terminal, look: Look, interrupted: AbortSignal): Promise<void> {
  const left = new AbortController()
  terminal.onKeys((typed) => {
    if ([...typed].some((key) => LEAVE.has(key))) left.abort()
  })
  const signal = AbortSignal.any([interrupted, left.signal])
  while (!signal.aborted) {
    const { rows, columns } = terminal.size()
    const document = summaryOf(await look())
    const lines = summaryView(document, { ...cli.out.screen, width: columns }).split('\n')
    const fitting =
      lines.length < rows ? lines : [...lines.slice(0, rows - 2), `… ${lines.length - rows + 2} more lines`]
    terminal.write(`\x1b[H${fitting.map((line) => `${line}\x1b[K`).join('\r\n')}\r\n\x1b[J`)
    await untilChange(cli, LOOK_MS, signal)
  }
}

function summaryView({ agents, counts, attention }: StatusSummary, screen: Screen): string {
  const needy = runningAgentsView({ agents: attention }, screen)
  const parts = STATUSES.flatMap((state) => (counts[state] ? [`${counts[state]} ${state}`] : []))
  const line = `${plural(agents, 'agent')}${parts.length > 0 ? `: ${parts.join(', ')}` : ''}`
  return needy === '' ? line : `${line}\n${needy}`
}

const keyOf = (views: readonly AgentView[]): string =>
  JSON.stringify(
    views.map(({ id, status: state, since, waiting_for, reason }) => [id, state, since, waiting_for, reason]),
  )
