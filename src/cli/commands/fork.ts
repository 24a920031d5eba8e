import { count, flag, fork as operation, optional, usageError } from '../../operations/index.js'
import { operationCommand } from '../operation-command.js'
import { safe, safeText } from '../screen/safe-text.js'
import { receiptView } from '../views/receipt-view.js'
import { refuseUnattended, visit } from '../visit.js'

const OWN = {
  fzf: flag('Choose the turn with fzf'),
  attach: flag('Go to its terminal'),
}

export const fork = operationCommand(operation, {
  name: 'fork',
  description: `${operation.description} Without --turn, choose it from a list in the terminal.`,
  examples: [
    [
      'skein fork 22222222 --turn 1 --chat-only --tool claude --name again',
      'Continue from the first turn, in another program',
    ],
  ],
  args: ['session'],
  fields: { turn: optional(count, 'The turn, as skein turns numbers it (default: chosen from a list)') },
  own: OWN,
  order: ['turn', 'before', 'after', 'code_only', 'chat_only', 'count', 'prompt', 'tool', 'name', 'fzf', 'attach'],
  async prepare({ attach, fzf, ...typed }, cli) {
    if (attach && (typed.count ?? 1) > 1)
      throw usageError('--attach needs exactly one fork', 'Attach afterwards: skein attach <agent>')
    if (attach) refuseUnattended(cli)
    const turn: number | undefined = typed.turn
    if (turn !== undefined) return { ...typed, turn }
    const { pickTurn } = await import('../pick/pick-turn.js')
    return { ...typed, turn: await pickTurn(typed.session, { fzf }, cli) }
  },
  async show({ forks }, cli, { attach }) {
    const { out } = cli
    for (const one of forks) {
      const { worktree, branch, missing, late, is_exact, not_included, left_out, conversation } = one
      const lines = [
        receiptView(one),
        ...(worktree === undefined
          ? []
          : [safe`It works in ${worktree}${branch === undefined ? '' : ` on ${branch}`}`]),
        ...(conversation === 'context'
          ? ['Its program cannot open a copy: it was given a summary of the conversation']
          : []),
        ...(left_out.length > 0
          ? [`Not carried over: ${left_out.map(({ what, count: n }) => `${safeText(what)} (${n})`).join(', ')}`]
          : []),
        ...(missing.length > 0
          ? [
              safe`Not in the snapshot: ${missing
                .map(({ path, reason }) => `${path} (${reason})`)
                .slice(0, 10)
                .join(', ')}`,
            ]
          : []),
        ...(is_exact === false ? [notExact(late)] : []),
        ...not_included.slice(0, 10).map(({ path, because }) => safe`Not copied: ${path}: ${because}`),
      ]
      out.text(lines.join('\n'))
    }
    const [only] = forks
    if (attach && only) await visit(only.agent.id, cli)
  },
})

const notExact = (late: readonly string[]): string =>
  late.length === 0
    ? 'The snapshot is incomplete: files may be missing'
    : safe`Changed before the snapshot was taken, so perhaps not as it was then: ${late.slice(0, 10).join(', ')}`
