import { duration, flag, freeText, optional, required, sessionRef, text } from '../../../operations/index.js'
import { command } from '../../command.js'
import { givenText } from '../../input/own-agent.js'
import { safe, safeText } from '../../screen/safe-text.js'

const PATIENCE_MS = 300_000

export const talk = command({
  name: 'seance talk',
  summary: 'Ask a past session',
  description:
    'Its tool copies the session, and an agent of its own (in the group seance) is started in the copy: nothing is written to the session itself. If the log is gone, or with --tool, the conversation is written anew from the log or the archive. If the directory is gone, the agent works in an empty one. With -p the question is sent, the reply printed and the agent removed. Without it the agent stays; attach to it, and remove it when you are done.',
  examples: [
    ['skein seance talk 22222222 -p "why did you drop the cache?"', 'Ask it, in a copy'],
    ['skein seance talk wk-42 -p "what is left to do?"', 'Ask whoever worked on a unit last'],
    ['skein seance talk 22222222 --tool claude -p "what is left to do?"', 'Let another tool answer'],
  ],
  args: { session: required(sessionRef, 'Id, beginning of an id, agent, or unit of work') },
  options: {
    prompt: optional(freeText('text'), 'The question', { short: 'p' }),
    newest: flag('Ask the newest session of its chain instead'),
    tool: optional(text('tool'), 'The program that answers (default: its own)'),
    timeout: optional(duration, 'How long to wait for the reply', { fallback: '5m' }),
  },
  async run({ session, prompt, newest, tool, timeout = PATIENCE_MS }, cli) {
    const { out } = cli
    const question = prompt === undefined ? {} : { prompt: givenText(prompt, cli) }
    const by = tool === undefined ? {} : { tool }
    const asked = { ...question, ...by, isNewest: newest, timeoutMs: timeout, signal: cli.interrupted() }
    const talked = await (await cli.agents()).talkSeance(session, asked)
    const { agent, reply, reason, cwd, from, is_directory_gone } = talked
    if (prompt !== undefined && reply === undefined) out.fails()
    if (out.json) return out.result(talked, () => '')
    if (from === 'archive') out.note('From the archive: the log is gone')
    if (is_directory_gone) out.note(safe`Its directory is gone: the agent works in ${cwd} , which is empty`)
    if (reply !== undefined) return out.text(reply.split('\n').map(safeText).join('\n'))
    if (reason !== undefined) return out.note(safe`No reply: ${reason}`)
    const { address } = agent
    out.text(
      safe`Started ${address} in a copy. Go to it: skein attach ${address} . When done: skein remove ${address} --force`,
    )
  },
})
