import { isAbsolute, relative } from 'node:path'
import type { Snapshot } from '../../home/index.js'
import type { AgentView } from '../../lifecycle/index.js'
import { SkeinError } from '../../model/index.js'
import type { OperationContext } from '../context.js'
import { flag, optional } from '../field.js'
import { count } from '../kind.js'
import { operation } from '../operation.js'
import { SESSION } from '../sessions/session-ref.js'
import { codedSession, codePoint } from './code-point.js'

export const rewind = operation({
  name: 'rewind',
  does: 'acts',
  where: 'daemon',
  summary: 'Put the files of a worktree back to an earlier turn',
  description:
    'Shows what would change; --yes does it, after a snapshot of the present files. --redo takes the last rewind back. HEAD and branches stay where they are, and so does the conversation. Refused while an agent is at work in the worktree.',
  input: {
    session: SESSION,
    turn: optional(count, 'Its number in skein turns'),
    before: flag('To the code before the turn'),
    after: flag('To the code after the turn; this is the default'),
    redo: flag('To the code before the last rewind'),
    yes: flag('Change the files'),
  },
  result: 'rewind-report',
  async run({ session, turn, before, after, redo, yes }, context) {
    if (before && after) throw usage('--before and --after exclude each other', 'Leave one of them out')
    if (redo === (turn !== undefined)) throw usage('Missing --turn or --redo', 'Name the turn to go back to: --turn 3')
    const home = await context.home()
    const coded = await codedSession(home, session)
    const snapshot =
      turn === undefined
        ? safetyOf(await home.snapshots.list(coded.session), coded.session)
        : codePoint(coded, turn, before ? 'before' : 'after').snapshot
    if (yes) await refuseAtWork(context, snapshot)
    const rewound = await home.snapshots.rewind(snapshot, { preview: !yes })
    // A look leaves no snapshot behind, or --redo would take it for the code before the last rewind.
    if (!yes) await home.snapshots.remove([rewound.safety])
    return {
      session: coded.session,
      ...(turn === undefined ? {} : { turn, edge: before ? ('before' as const) : ('after' as const) }),
      root: snapshot.root,
      as_of: snapshot.as_of,
      is_exact: snapshot.exact && snapshot.mode === 'whole',
      is_done: rewound.isDone,
      index: rewound.index,
      changes: rewound.changes,
      nested: rewound.nested,
      left_alone: rewound.leftAlone,
    }
  },
})

function safetyOf(snapshots: readonly Snapshot[], session: string): Snapshot {
  const last = snapshots.filter(({ moment }) => moment === 'safety').at(-1)
  if (last) return last
  const id = session.slice(0, 8)
  throw new SkeinError('snapshot-not-found', `Session ${id} has no rewind to take back`, `Run skein turns ${id}`)
}

/** Files that change under an agent at work would be overwritten by it, or taken for its own. */
async function refuseAtWork({ live }: OperationContext, { root }: Snapshot): Promise<void> {
  const busy = (await live.list({ all: true })).find((agent) => isAtWork(agent) && isInside(agent.project_path, root))
  if (!busy) return
  const what = busy.status === 'waiting' ? 'waits for an answer in the middle of a turn' : 'is at work'
  throw new SkeinError('agent-busy', `${busy.address} ${what} in ${root}`, `Wait for it: skein wait ${busy.address}`)
}

const isAtWork = ({ status, waiting_for }: AgentView): boolean =>
  status === 'running' || status === 'starting' || (status === 'waiting' && waiting_for !== 'finished')

function isInside(path: string | undefined, root: string): boolean {
  if (path === undefined) return false
  const way = relative(root, path)
  return !way.startsWith('..') && !isAbsolute(way)
}

const usage = (message: string, next: string): SkeinError => new SkeinError('usage', message, next)
