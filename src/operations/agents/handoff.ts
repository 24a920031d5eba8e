import type { HandoffReceipt } from '../../lifecycle/index.js'
import { CLOSED_STATUSES } from '../../model/index.js'
import { flag, optional } from '../field.js'
import { agentRef, choice, freeText, text } from '../kind.js'
import { operation } from '../operation.js'
import { present } from '../present.js'
import { usageError } from '../usage-error.js'

export const agentsHandoff = operation({
  name: 'handoff',
  does: 'acts',
  where: 'daemon',
  summary: "Hand an agent's work to its next session",
  description:
    'Saves what the successor has to know as a mail on the agent\'s hook, records the handoff, and starts a new conversation in the same pane. To record a handoff that another program made, use "session handoff". A handoff that was cut off is finished instead, and its successor also gets your message. Files that are not committed, and commits that are not pushed, are listed. Two handoffs within a minute are refused.',
  input: {
    target: optional(text('target'), 'A unit of work to hook first, or the agent or role to hand off'),
    agent: optional(agentRef, 'The agent that hands off'),
    auto: flag('Save only; the conversation continues'),
    cycle: flag('Save, and restart the program in the same conversation'),
    subject: optional(freeText('text'), 'What the handoff is about', { short: 's' }),
    message: optional(freeText('text'), 'What the successor should know', { short: 'm' }),
    collect: flag('Add the state of the directory, the work and the conversation (default without a message)', {
      short: 'c',
    }),
    reason: optional(freeText('text'), 'Why, in a few words'),
    tool: optional(text('tool'), 'The program that the successor runs'),
    dry_run: flag('Show what would be done, and change nothing', { short: 'n' }),
  },
  result: 'handoff-receipt',
  async run({ auto, cycle, collect, dry_run, ...given }, { agents }): Promise<HandoffReceipt> {
    if (auto && cycle) throw usageError('--auto and --cycle exclude each other', 'Use one of them')
    const kind = auto ? 'auto' : cycle ? 'cycle' : 'fresh'
    return (await agents()).handoff({ ...present(given), kind, collect, dryRun: dry_run })
  },
})

export const agentsDone = operation({
  name: 'done',
  does: 'acts',
  where: 'daemon',
  summary: "End an agent's session with its work done",
  description:
    'Closes the work on its hook, ends the session with the outcome "done", reads its log and stops the agent. [work] on_done in config.toml names a command that submits the work first; when that fails, nothing is closed.',
  input: {
    agent: optional(agentRef, 'The agent'),
    status: optional(choice('status', CLOSED_STATUSES), 'What becomes of the work', { fallback: 'done' }),
    reason: optional(freeText('text'), 'Why, in words'),
  },
  result: 'done-receipt',
  async run({ agent, ...given }, { agents }) {
    if (agent === undefined)
      throw usageError('No agent is named, and SKEIN_AGENT is not set', 'Name one; see: skein list')
    return (await agents()).done(agent, present(given))
  },
})
