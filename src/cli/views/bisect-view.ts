import type { Bisection } from '../../home/index.js'
import { formatDuration } from '../../model/index.js'
import { plural } from '../screen/plural.js'
import { safeText } from '../screen/safe-text.js'
import type { Screen } from '../screen/screen.js'
import { table } from '../screen/table.js'

const REASONS: Record<Bisection['skipped'][number]['reason'], string> = {
  'no-snapshot': 'no snapshot',
  partial: 'incomplete snapshot',
  elsewhere: 'another worktree',
  'exit-125': 'code 125',
}

/** The runs in their order, what was skipped, and what came of it. */
export function bisectView(found: Bisection, screen: Screen): string {
  const { runs, skipped } = found
  const ran = table(
    runs,
    [
      {
        header: 'TURN',
        text: ({ turn, edge }) => (edge === 'before' ? `before ${turn}` : String(turn)),
        align: 'right',
      },
      { header: 'RESULT', text: ({ verdict }) => verdict },
      { header: 'CODE', text: ({ exit_code, is_late }) => (is_late ? 'timeout' : String(exit_code ?? 'signal')) },
      { header: 'TIME', text: ({ duration_ms }) => formatDuration(duration_ms), align: 'right' },
    ],
    screen,
  )
  const left = skipped.map(({ turn, reason }) => `${turn} (${REASONS[reason]})`)
  const said = left.length === 0 ? [] : [`Skipped turns: ${left.join(', ')}`]
  return [...(runs.length > 0 ? [ran, ''] : []), ...said, ...conclusion(found), ...lastWords(found, screen)].join('\n')
}

function conclusion(found: Bisection): string[] {
  const { outcome, turn, turns = [], prompt, runs, session, is_edited_before } = found
  const tried = plural(runs.length, 'run')
  const id = session.slice(0, 8)
  switch (outcome) {
    case 'found': {
      const isSure = runs.some(({ verdict }) => verdict === 'passed')
      return [
        `Turn ${turn} is the first after which the command fails (${tried}): ${safeText(prompt ?? '')}`,
        ...(isSure ? [] : ['No run passed: it may have failed before that turn, too.']),
        ...(is_edited_before ? ['Files were also edited between the turn before and this one.'] : []),
        `What it changed: skein diff ${id} ${turn}`,
      ]
    }
    case 'among':
      return [
        `The first turn after which the command fails is one of ${turns.join(', ')}; the others cannot tell (${tried}).`,
      ]
    case 'never':
      return [
        turns.length === 0
          ? `The command does not fail after the last turn (${tried}).`
          : `The command did not fail where it could be run (${tried}); turn${turns.length === 1 ? '' : 's'} ${turns.join(', ')} cannot tell.`,
      ]
    case 'before':
      return [`The command failed already before the first turn (${tried}).`]
  }
}

/** What the command printed last where it failed. */
function lastWords({ runs, outcome }: Bisection, { paint }: Screen): string[] {
  const failed = runs.filter(({ verdict }) => verdict === 'failed').at(-1)
  const lines = failed?.output.trimEnd().split('\n').slice(-10) ?? []
  if (!failed || outcome === 'never' || (lines.length === 1 && lines[0] === '')) return []
  return ['', `It printed last, after turn ${failed.turn}:`, ...lines.map((line) => paint.dim(`  ${safeText(line)}`))]
}
