import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { lifeOf, makeDirectory, textIn, thisPlace, thisProcess, whereaboutsOf, writeAtomic } from '../../disk/index.js'
import { type Agent, parseGroupPath, readJson, type Session, splitAddress } from '../../model/index.js'
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
  if (await parts.runs.read(agent.id)) await kill(parts, agent)
  await parts.home.roster.remove(agent.id)
  parts.runs.forget(agent.id)
  rmSync(parts.runs.directoryOf(agent.id), { recursive: true, force: true })
  const isLast = !(await parts.home.roster.agents()).some(({ group_path }) => group_path?.startsWith(GROUP))
  if (isLast) await parts.home.roster.deleteGroup(GROUP).catch(() => undefined) // another one has come meanwhile
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
