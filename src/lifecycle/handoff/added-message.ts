import type { Agent } from '../../model/index.js'
import type { Parts } from '../parts.js'
import { collect, givenIn, handoffBody } from './collect.js'
import { addressOf, type HandoffOptions } from './handoff.js'
import type { HandoffMarker } from './marker.js'

/**
 * Adds what a second handoff was asked for to the first one, which was cut off: the message becomes a mail on the hook, the unit of work is
 * hooked. The same words again are not saved twice: whoever repeats a command that was killed means one handoff. Returns what to say of it.
 */
export async function addToHandoff(
  parts: Parts,
  agent: Agent,
  { from, tool: successorTool }: HandoffMarker,
  { message, subject, collect: wantsState = false, work, tool, sender = agent }: HandoffOptions,
): Promise<string[]> {
  const provider = parts.home.work
  const notes: string[] = []
  if (work) {
    await provider.hook(work, addressOf(agent))
    notes.push(`${work} is on its hook`)
  }
  if (message?.trim() || subject?.trim()) {
    const state = wantsState ? await collect(parts, agent, await parts.runs.read(agent.id)) : undefined
    const body = handoffBody(message, state)
    const title = subject ?? 'Handoff'
    const before = (await provider.hooked(addressOf(agent))).mail.find(
      (mail) => mail.kind === 'handoff' && mail.subject === title && givenIn(mail.body) === givenIn(body),
    )
    const mail =
      before ??
      (await provider.send({
        ...{ to: addressOf(agent), from: addressOf(sender), subject: title, body, kind: 'handoff' as const },
        ...{ from_session: from, for_session: from, is_hooked: true },
      }))
    notes.push(`your message is mail ${mail.id} on its hook`)
  }
  if (tool !== undefined && tool !== (successorTool ?? agent.tool))
    notes.push(`it was not started with ${tool}: hand off again for that`)
  return notes
}
