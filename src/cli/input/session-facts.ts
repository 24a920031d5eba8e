import type { SessionFacts } from '../../model/index.js'
import { directory, freeText, groupRef, optional, present, text, type Values } from '../../operations/index.js'

/** What can be said about a session when it starts, hands off or is updated. */
export const FACT_OPTIONS = {
  tool: optional(text('tool'), 'The agent program: claude, codex, gemini ...'),
  title: optional(freeText('text'), 'What the session is about'),
  role: optional(text('role'), "The agent's role"),
  rig: optional(groupRef, 'The outermost group, if no agent is given', { aliases: ['group'] }),
  work: optional(text('unit'), 'The unit of work it is on'),
  molecule: optional(text('id'), 'The plan that the work follows'),
  step: optional(text('step'), 'The step of the plan'),
  cwd: optional(directory, 'Where it runs'),
  branch: optional(text('branch'), 'The git branch it works on'),
  model: optional(text('model'), 'The model to use'),
  tmux: optional(text('session'), 'The tmux session it runs in'),
}

export function factsOf(given: Values<typeof FACT_OPTIONS>): Omit<SessionFacts, 'agent' | 'agent_id'> {
  const { tool, title, role, rig, cwd, branch, model } = given
  return {
    ...present({ tool, title, role, rig, cwd, branch, model }),
    ...present({
      work_unit: given.work,
      molecule_id: given.molecule,
      step_ref: given.step,
      tmux_session: given.tmux,
    }),
  }
}
