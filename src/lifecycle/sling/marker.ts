import { type Agent, type Instant, shapes } from '../../model/index.js'
import type { AgentRun } from '../agent-run.js'
import type { Parts } from '../parts.js'
import type { ReadyWorktree } from './worktree.js'

const { flag, path: isPath, shape, shaped, text, time } = shapes

/** A sling that is under way: in the agent's file, so that whoever looks finishes or undoes one whose process was killed. */
export interface SlingMarker {
  work: string
  group: string
  role: string
  /** The agent was made for it. */
  is_new: boolean
  at: Instant
  worktree?: ReadyWorktree
}

export const isSlingMarker = shaped(
  shape({
    work: text,
    group: text,
    role: text,
    is_new: flag,
    at: time,
    'worktree?': shaped(shape({ repository: isPath, directory: isPath, branch: text, how: text, 'made?': text })),
  }),
)

export const hasUnfinishedSling = (run: AgentRun): boolean => run.sling !== undefined

/** Finishes or undoes a sling whose process was killed. Loaded when there is one. */
export async function finishCutSling(parts: Parts, agent: Agent): Promise<void> {
  const { settleCutSling } = await import('./cut-sling.js')
  await settleCutSling(parts, agent)
}

export async function setMarker({ runs }: Parts, agent: Agent, marker: SlingMarker | undefined): Promise<void> {
  await runs.update(agent, (current) => {
    if (!current || (marker === undefined && current.sling === undefined)) return undefined
    const { sling: _, ...rest } = current
    const next: AgentRun = marker ? { ...rest, sling: marker } : rest
    return { next, result: undefined }
  })
}

/** The journal says what became of the unit. */
export async function recordSling({ home }: Parts, agent: Agent, marker: SlingMarker): Promise<void> {
  const { work, group, role, worktree } = marker
  const place = worktree ? { worktree: worktree.directory, branch: worktree.branch } : {}
  const payload = { work_unit: work, target: agent.address, group, role, ...place }
  await home.events.append({ type: 'sling', agent: agent.address, payload })
}
