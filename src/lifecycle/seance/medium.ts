import { rmSync } from 'node:fs'
import { join } from 'node:path'
import {
  lifeOf,
  makeDirectory,
  statOf,
  textIn,
  thisPlace,
  thisProcess,
  whereaboutsOf,
  writeAtomic,
} from '../../disk/index.js'
import { type Agent, parseGroupPath, readJson, type Session, SkeinError, splitAddress } from '../../model/index.js'
import type { AgentRun } from '../agent-run.js'
import { ASKER_FILE } from '../agent-runs.js'
import type { Parts } from '../parts.js'
import { kill } from '../run/stop.js'

/** The group of agents that answer for a past session. */
const GROUP = parseGroupPath('seance')

/** Makes the agent that answers for a session. `isForOneQuestion`: it is removed when this process has ended, however that was. */
export async function makeMedium(
  parts: Parts,
  session: Session,
  { tool, cwd, isForOneQuestion }: { tool: string; cwd?: string; isForOneQuestion: boolean },
): Promise<Agent> {
  const { home } = parts
  const name = session.agent ? splitAddress(session.agent).name : tool
  const taken = new Set<string>((await home.roster.agents()).map(({ address }) => address))
  const free = (n: number): string => {
    const address = `${GROUP}/${name}${n === 1 ? '' : `-${n}`}`
    return taken.has(address) ? free(n + 1) : address
  }
  const facts = { address: free(1), tool, title: `asks ${session.id}`, ...(cwd ? { project_path: cwd } : {}) }
  const agent = await home.roster.add(facts)
  if (isForOneQuestion) {
    const asker = { ...thisProcess(), place: thisPlace() }
    makeDirectory(parts.runs.directoryOf(agent.id))
    writeAtomic(askerOf(parts, agent), `${JSON.stringify(asker)}\n`, { durable: false })
  }
  return agent
}

/** Ends and removes the agent, and its group with the last one. The session that it had stays in the history. */
export async function letGo(parts: Parts, agent: Agent): Promise<void> {
  const run = await parts.runs.read(agent.id)
  if (run) {
    await kill(parts, agent)
    await readAside(parts, run)
  }
  await parts.home.roster.remove(agent.id)
  parts.runs.forget(agent.id)
  rmSync(parts.runs.directoryOf(agent.id), { recursive: true, force: true })
  const isLast = !(await parts.home.roster.agents()).some(({ group_path }) => group_path?.startsWith(GROUP))
  if (isLast) await parts.home.roster.deleteGroup(GROUP).catch(() => undefined) // another one has come meanwhile
}

/** A log that goes with the agent is read before: what was spent stays spent. One that cannot be read keeps no agent from being removed. */
async function readAside({ home, runs, runners }: Parts, { agent, recipe: { tool }, run, binding }: AgentRun) {
  const runner = runners.find(({ name }) => name === tool)
  const root = run && runner?.rootAside?.(join(runs.directoryOf(agent), run.id))
  if (!root || !binding || !statOf(root)) return
  await home.history.ingest({ tool, session: binding.session, roots: { [tool]: [root] } }).catch((error: unknown) => {
    if (!(error instanceof SkeinError)) throw error
  })
}

/** Removes agents that were for one question, whose asker was killed before it could do so. */
export async function sweepMediums(parts: Parts): Promise<number> {
  const left = (await parts.home.roster.agents()).filter((agent) => agent.group_path === GROUP && isLeft(parts, agent))
  for (const agent of left) await letGo(parts, agent)
  return left.length
}

/** Only by a process that is known to have ended here. */
function isLeft(parts: Parts, agent: Agent): boolean {
  const asker = readJson(textIn(askerOf(parts, agent)) ?? '')
  if (typeof asker !== 'object' || asker === null || !('pid' in asker) || typeof asker.pid !== 'number') return false
  const { pid, starttime, place } = asker as ReturnType<typeof thisProcess> & { place?: ReturnType<typeof thisPlace> }
  const where = whereaboutsOf(place)
  if (where === 'elsewhere') return false
  return where === 'restarted' || lifeOf(starttime === undefined ? { pid } : { pid, starttime }) === 'dead'
}

const askerOf = ({ runs }: Pick<Parts, 'runs'>, { id }: Pick<Agent, 'id'>): string =>
  join(runs.directoryOf(id), ASKER_FILE)
