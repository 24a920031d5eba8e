import { join } from 'node:path'
import { makeDirectory, textIn, writeAtomic } from '../../disk/index.js'
import type { AgentId } from '../../model/index.js'
import { isSessionId, readJson, shapes } from '../../model/index.js'
import type { CapturedEdges } from './turn-edges.js'

const { isObject, misfit, shape, text, time } = shapes
const EDGES = shape({ 'prompt?': time, 'stop?': time, 'session?': isSessionId, 'directory?': text })

/** Which turns were captured, per agent: a file, so that a daemon that was killed goes on where it was. A lost one costs a second capture. */
export class CapturedTurns {
  readonly #path: string
  readonly #edges: Map<string, CapturedEdges>

  constructor(private readonly snapshots: string) {
    this.#path = join(snapshots, 'captured.json')
    this.#edges = new Map(Object.entries(edgesIn(textIn(this.#path))))
  }

  of(agent: AgentId): CapturedEdges {
    return this.#edges.get(agent) ?? {}
  }

  set(agent: AgentId, edges: CapturedEdges): void {
    this.#edges.set(agent, { ...this.of(agent), ...edges })
  }

  /** What agents that are gone left behind is dropped. */
  save(isKnown: (agent: AgentId) => boolean): void {
    for (const agent of this.#edges.keys()) if (!isKnown(agent as AgentId)) this.#edges.delete(agent)
    makeDirectory(this.snapshots)
    writeAtomic(this.#path, JSON.stringify({ v: 1, agents: Object.fromEntries(this.#edges) }), { durable: false })
  }
}

function edgesIn(text: string | undefined): Record<string, CapturedEdges> {
  const value = readJson(text ?? '')
  if (!isObject(value) || value.v !== 1 || !isObject(value.agents)) return {}
  const whole = Object.entries(value.agents).filter(
    ([, edges]) => isObject(edges) && misfit(edges, EDGES) === undefined,
  )
  return Object.fromEntries(whole) as Record<string, CapturedEdges>
}
