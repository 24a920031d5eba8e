import type { HandoffReceipt } from '../../lifecycle/index.js'
import { SkeinError } from '../../model/index.js'
import { agentsHandoff, flag } from '../../operations/index.js'
import type { Cli } from '../command.js'
import { operationCommand, type Typed } from '../operation-command.js'
import { detached, mustDetach } from '../own-pane.js'
import { contextOf } from '../perform.js'
import { safe, safeText } from '../screen/safe-text.js'
import { receiptView } from '../views/receipt-view.js'

const OWN = {
  stdin: flag('Read the message from standard input'),
  watch: flag("Go to the agent's terminal afterwards", { short: 'w' }),
  yes: flag('Also with work that is not committed or not pushed', { short: 'y' }),
}
type Words = Typed<typeof agentsHandoff.input, typeof OWN>

export const handoff = operationCommand(agentsHandoff, {
  name: 'handoff',
  description: `${agentsHandoff.description} Typed inside an agent, it hands off that agent: SKEIN_AGENT names it. On a terminal, work that is not saved needs --yes.`,
  examples: [
    ['skein handoff web/demo --collect --dry-run', 'What the successor would be told'],
    ['skein handoff web/demo -s "Login half done" -m "Tests are red" --dry-run', 'With a subject and a message'],
  ],
  args: ['target'],
  own: OWN,
  prepare: prepared,
  async instead(typed, cli) {
    const given = prepared(typed, cli)
    if (given.dry_run || given.auto) return false
    const mayEndItself = cli.currentAgent !== undefined
    if (!mayEndItself && (typed.yes || !cli.isAttended)) return false
    const { agent, unsaved } = await planned(given, cli) // refuses what would be refused
    if (unsaved.length > 0 && cli.isAttended && !typed.yes) throw notSaved(agent.address, unsaved)
    if (!(await mustDetach(agent.id, cli))) return false
    await detached(argumentsOf(given), given.message ?? '', cli)
    return true
  },
  async show(receipt, cli, { watch }) {
    const { unsaved, body, is_done } = receipt
    if (unsaved.length > 0) cli.out.note(safe`Not saved: ${unsaved.join(', ')}`)
    const lines = [receiptView(receipt), ...(is_done || !body ? [] : ['', ...body.split('\n').map(safeText)])]
    cli.out.result(receipt, () => lines.join('\n'))
    if (!watch || !is_done) return
    const agents = await cli.agents()
    const argv = await agents.attachCommand(receipt.agent.id, cli.tmux ? { tmux: cli.tmux } : {})
    using _attended = await agents.attend(receipt.agent.id)
    await cli.handOver(argv)
  },
})

function prepared({ stdin, watch: _watch, yes: _yes, ...typed }: Words, cli: Cli) {
  const agent = typed.agent ?? cli.currentAgent
  const message = stdin ? cli.stdin() : typed.message
  return { ...typed, agent, message }
}

/** What the handoff would do. Starts no daemon: it would be a child of this process, and end with it. */
async function planned(given: ReturnType<typeof prepared>, cli: Cli): Promise<HandoffReceipt> {
  await using agents = await cli.agentsOf(await cli.home())
  const context = { ...contextOf(cli), agents: async () => agents }
  return await agentsHandoff.run({ ...given, dry_run: true }, context)
}

/** A person can still commit; an agent is warned, and its successor finds the files as they are. */
const notSaved = (agent: string, unsaved: readonly string[]): SkeinError =>
  new SkeinError(
    'bad-input',
    `${agent} has work that is not saved: ${unsaved.join(', ')}`,
    'Commit or push it, or hand off all the same with --yes',
  )

/** The same command for another process. The message is on its standard input. */
function argumentsOf({
  target,
  agent,
  cycle,
  collect,
  subject,
  reason,
  tool,
  message,
}: ReturnType<typeof prepared>): string[] {
  const option = (name: string, value: string | undefined): string[] =>
    value === undefined ? [] : [`--${name}=${value}`]
  return [
    'handoff',
    ...option('agent', agent),
    ...(cycle ? ['--cycle'] : []),
    ...(collect ? ['--collect'] : []),
    ...option('subject', subject),
    ...option('reason', reason),
    ...option('tool', tool),
    ...(message === undefined ? [] : ['--stdin']),
    '--yes',
    ...(target === undefined ? [] : ['--', target]),
  ]
}
