import type { ForkReceipt } from '../../lifecycle/index.js'
import { flag, optional, required } from '../field.js'
import { count, freeText, sessionRef, text } from '../kind.js'
import { operation } from '../operation.js'
import { present } from '../present.js'
import { usageError } from '../usage-error.js'

export interface ForkReceipts {
  forks: ForkReceipt[]
}

export const fork = operation({
  name: 'fork',
  does: 'acts',
  where: 'either',
  summary: 'Start a new agent from a past turn',
  description:
    'Makes a worktree on a new branch with the files as they were at that turn, copies the conversation up to there, and starts an agent that continues it. The source is only read. Ignored files that .worktreeinclude names are copied, and [fork] setup in config.toml names a command to run in the worktree first. If a step fails or the command is interrupted, everything is undone. A turn with a tool call that has no result yet is refused, and so is one without a snapshot unless the conversation is forked alone.',
  input: {
    session: required(sessionRef, 'Id, beginning of an id, or agent'),
    turn: required(count, 'The turn, as skein turns numbers it'),
    before: flag('As it was before the prompt of that turn'),
    after: flag('As it was at the end of that turn (default)'),
    code_only: flag('The files alone, with a new conversation'),
    chat_only: flag("The conversation alone, in the source's directory as it is now"),
    count: optional(count, 'How many forks', { fallback: '1' }),
    prompt: optional(freeText('text'), 'The first prompt; kept until the agent can take it'),
    tool: optional(text('tool'), 'The program that continues', { fallback: 'that of the session' }),
    name: optional(text('name'), 'Name of the agent, the worktree and the branch'),
  },
  result: 'fork-receipts',
  async run(
    { session, before, after, code_only, chat_only, count: forks = 1, ...given },
    { agents, abandoned },
  ): Promise<ForkReceipts> {
    if (before && after) throw usageError('--before and --after exclude each other', 'Use one of them')
    if (code_only && chat_only) throw usageError('--code-only and --chat-only exclude each other', 'Use one of them')
    const { turn, ...more } = given
    return {
      forks: await (await agents()).fork({
        source: session,
        turn,
        edge: before ? 'before' : 'after',
        code: !chat_only,
        chat: !code_only,
        count: forks,
        signal: abandoned(),
        ...present(more),
      }),
    }
  },
})
