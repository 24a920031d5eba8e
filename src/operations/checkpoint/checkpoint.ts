import type { Checkpoint } from '../../lifecycle/index.js'
import { SkeinError } from '../../model/index.js'
import { optional, required } from '../field.js'
import { agentRef, freeText, text } from '../kind.js'
import { operation } from '../operation.js'
import { present } from '../present.js'

const AGENT = required(agentRef, 'The agent')

/** The checkpoint of an agent, with whose it is. */
export interface AgentCheckpoint {
  agent: string
  checkpoint: Checkpoint
}

export const checkpointWrite = operation({
  name: 'checkpoint.write',
  does: 'acts',
  where: 'either',
  summary: 'Save where an agent is in its work',
  description:
    'Saves its step, what is on its hook, and the branch, the last commit and the changed files of its directory. After a crash the next session of the agent is given it, if it is less than a day old. With the preset gastown, .polecat-checkpoint.json is written as well.',
  input: {
    agent: AGENT,
    notes: optional(freeText('text'), 'What the next session has to know'),
    molecule: optional(text('id'), 'The plan that the step belongs to'),
    step: optional(text('step'), 'The step, if it is not the one on record'),
    title: optional(freeText('text'), 'What the step is called'),
  },
  result: 'agent-checkpoint',
  async run({ agent, notes, molecule, step, title }, { agents }): Promise<AgentCheckpoint> {
    const given = { notes, molecule_id: molecule, current_step: step, step_title: title }
    return (await agents()).writeCheckpoint(agent, present(given))
  },
})

export const checkpointRead = operation({
  name: 'checkpoint.read',
  does: 'reads',
  where: 'either',
  summary: 'Show the checkpoint of an agent',
  description:
    'The newest of its own and of .polecat-checkpoint.json in its directory. One that is older than a day is none.',
  input: { agent: AGENT },
  result: 'agent-checkpoint',
  async run({ agent }, { agents }): Promise<AgentCheckpoint> {
    const found = await (await agents()).readCheckpoint(agent)
    if (found) return found
    throw new SkeinError(
      'checkpoint-not-found',
      `${agent} has no checkpoint of the last 24 hours`,
      `Write one: skein checkpoint write --agent ${agent}`,
    )
  },
})

export const checkpointClear = operation({
  name: 'checkpoint.clear',
  does: 'acts',
  where: 'either',
  summary: 'Remove the checkpoint of an agent',
  input: { agent: AGENT },
  result: 'cleared-checkpoint',
  async run({ agent }, { agents }): Promise<{ agent: string; cleared: boolean }> {
    return (await agents()).clearCheckpoint(agent)
  },
})
