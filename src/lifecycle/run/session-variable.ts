import { type SessionId, SkeinError } from '../../model/index.js'
import type { LiveRun } from '../agent-run.js'
import { type Parts, runnerOf } from '../parts.js'

/**
 * Puts the id of an agent's conversation into the environment of its tmux session, for tools with `session_id_env`: panes opened
 * beside it inherit it, and `tmux show-environment` prints it. Removes it when there is no conversation.
 */
export async function publishSession(
  parts: Parts,
  tool: string,
  run: Pick<LiveRun, 'socket' | 'tmux_session'>,
  session: SessionId | undefined,
): Promise<void> {
  try {
    const name = runnerOf(parts, tool).sessionVariable
    if (name === undefined) return
    await (await parts.terminals.of(run.socket)).setVariable(run.tmux_session, name, session)
  } catch (error) {
    if (!(error instanceof SkeinError)) throw error // tmux or the tool is gone: nobody reads it
  }
}
