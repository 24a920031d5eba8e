import type { Home } from '../home/index.js'
import { RECORD_TYPES, unreachable } from '../model/index.js'
import type { Completes, Field } from '../operations/index.js'
import { relativeTime } from './screen/moment.js'
import type { World } from './world.js'

export interface Candidate {
  value: string
  description: string
}

/** Enough to be useful, few enough to be fast: a shell asks on every press of the key. */
const NEWEST_SESSIONS = 200

/** What can be offered for a value. Errors are nobody's business here: then there is nothing to offer. */
export async function valuesOf(
  input: Field<unknown>,
  { world, profile }: { world: World; profile: string },
): Promise<Candidate[]> {
  if (input.kind?.choices) return input.kind.choices.map((value) => ({ value, description: '' }))
  const source = input.kind?.completes
  if (source === undefined) return []
  if (source === 'directory') return [{ value: ':directories', description: '' }]
  if (source === 'event-type') return RECORD_TYPES.map((value) => ({ value, description: '' }))
  try {
    const profiles = await world.profiles.list()
    if (source === 'profile') return profiles.map(({ name, directory }) => ({ value: name, description: directory }))
    // Pressing a key must not create a home.
    if (!profiles.some(({ name }) => name === profile)) return []
    await using home = await world.profiles.open(profile)
    return await fromHome(home, source, world.now())
  } catch {
    return []
  }
}

async function fromHome(
  home: Home,
  source: Exclude<Completes, 'directory' | 'event-type' | 'profile'>,
  nowMs: number,
): Promise<Candidate[]> {
  switch (source) {
    case 'agent':
      return (await home.roster.agents()).map(({ address, tool }) => ({ value: address, description: tool }))
    case 'group':
      return (await home.roster.groups()).map(({ path }) => ({ value: path, description: '' }))
    case 'session': {
      const { sessions } = await home.sessions.query({ limit: NEWEST_SESSIONS })
      return sessions.map(({ id, title, agent, started_at }) => ({
        value: id,
        description: [title ?? agent ?? '', relativeTime(started_at, nowMs)].filter((part) => part !== '').join(', '),
      }))
    }
    default:
      return unreachable(source)
  }
}
