import type { Explanation } from '../../home/index.js'
import type { AgentAddress, Session, SessionId } from '../../model/index.js'
import { optional, required } from '../field.js'
import { path, text } from '../kind.js'
import { operation } from '../operation.js'
import { usageError } from '../usage-error.js'
import { type TurnCost, turnCost } from './turn-cost.js'

/** A session that went into a commit. */
export interface CommitSession extends Partial<TurnCost> {
  session: SessionId
  agent?: AgentAddress
  tool?: string
  title?: string
  /** Turns that wrote or removed some of it. */
  turns: number[]
  added: number
  removed: number
}

export type ExplanationDocument = Omit<Explanation, 'writers'> & {
  sessions: CommitSession[]
  writers: (Explanation['writers'][number] & Partial<TurnCost>)[]
}

export const REPOSITORY = optional(
  path('directory', 'directory'),
  'The repository of the commit, or a directory in it',
  {
    fallback: 'the working directory',
  },
)

export const explain = operation({
  name: 'explain',
  does: 'reads',
  where: 'either',
  isHeavy: true,
  summary: 'Show which sessions, turns and prompts went into a commit',
  description:
    'Compares the commit with its first parent and looks for the writer of each line in the snapshots of all turns, so it makes no difference who made the commit, and whether it was squashed, amended, rebased or cherry-picked since. Who wrote the lines and who made the commit are told apart.',
  input: {
    commit: required(text('commit'), 'A commit: an id or its beginning, a branch, a tag, HEAD~2'),
    repository: REPOSITORY,
  },
  result: 'commit-explanation',
  async run({ commit, repository }, { home }): Promise<ExplanationDocument> {
    if (repository === undefined) throw usageError('The repository is not named', 'Name a directory in it: repository')
    const opened = await home()
    const { explanation, turns, sessions } = await opened.history.explain(repository, commit)
    const prices = turns.size === 0 ? undefined : await opened.history.prices()
    const writers = explanation.writers.map((writer, at) => {
      const turn = turns.get(at)
      return { ...writer, ...(turn && prices ? turnCost(turn, prices) : undefined) }
    })
    return { ...explanation, sessions: sessionsOf({ ...explanation, writers }, sessions), writers }
  },
})

/** Each session once, with what it wrote of the commit; one that only made the commit is among them. */
function sessionsOf(
  { writers, made_by }: Pick<ExplanationDocument, 'writers' | 'made_by'>,
  known: ReadonlyMap<string, Session>,
): CommitSession[] {
  const found = new Map<SessionId, CommitSession>()
  for (const { session } of [...writers, ...made_by]) {
    if (session === undefined || found.has(session)) continue
    const { agent, tool, title } = known.get(session) ?? {}
    const own = writers.filter((writer) => writer.session === session)
    const priced = own.filter(({ cost_micro_usd }) => cost_micro_usd !== undefined)
    found.set(session, {
      session,
      ...(agent === undefined ? {} : { agent }),
      ...(tool === undefined ? {} : { tool }),
      ...(title === undefined ? {} : { title }),
      turns: [...new Set(own.flatMap(({ turn }) => turn ?? []))].sort((a, b) => a - b),
      added: own.reduce((sum, { added }) => sum + added, 0),
      removed: own.reduce((sum, { removed }) => sum + removed, 0),
      ...(priced.length === 0
        ? {}
        : {
            cost_micro_usd: priced.reduce((sum, { cost_micro_usd = 0 }) => sum + cost_micro_usd, 0),
            unpriced_calls: priced.reduce((sum, { unpriced_calls = 0 }) => sum + unpriced_calls, 0),
          }),
    })
  }
  return [...found.values()].sort((a, b) => b.added + b.removed - (a.added + a.removed))
}
