import type { WorkProvider } from '../../home/index.js'
import { type Agent, type Mail, type SessionId, SkeinError, type WorkUnit } from '../../model/index.js'

export type HookedUnit = Pick<WorkUnit, 'id' | 'title' | 'status' | 'body'>
export type HookedMail = Pick<Mail, 'id' | 'from' | 'subject' | 'body' | 'kind'>

/** What is on an agent's hook and in its inbox. */
export interface PrimedWork {
  readonly work: readonly HookedUnit[]
  readonly mail: readonly HookedMail[]
  readonly unread: number
}

export const NO_WORK: PrimedWork = { work: [], mail: [], unread: 0 }

/** Work may be kept by another program, which may be slow; an agent that starts waits for this. */
const WAIT_MS = 2_000
/** Of them: mail is read from the profile itself and needs the rest. */
const UNITS_MS = 1_500

/** What cannot be read is noted: an agent that has work and is not told so must not believe that it has none. */
export async function workOf(
  provider: WorkProvider,
  agent: Agent,
  session: SessionId | undefined,
  notes: string[],
): Promise<PrimedWork> {
  try {
    return await inTime(read(provider, agent, session, notes))
  } catch (error) {
    if (!(error instanceof SkeinError)) throw error
    notes.push(`Your work and mail could not be read: ${error.message}. Run: skein work list`)
    return NO_WORK
  }
}

/** The mail on its hook alone, for an agent that goes on: no other program is asked, so it waits for nothing. */
export async function mailOf(provider: WorkProvider, agent: Agent, notes: string[]): Promise<PrimedWork> {
  try {
    const mail = (await inTime(provider.hookedMail())).filter(({ to_agent_id }) => to_agent_id === agent.id)
    return { ...NO_WORK, mail: mail.map(shownMail) }
  } catch (error) {
    if (!(error instanceof SkeinError)) throw error
    notes.push(`The mail on your hook could not be read: ${error.message}. Run: skein mail inbox`)
    return NO_WORK
  }
}

async function read(
  provider: WorkProvider,
  { address, id }: Agent,
  session: SessionId | undefined,
  notes: string[],
): Promise<PrimedWork> {
  const { work, mail, problem } = await provider.hooked({ address, id }, { waitMs: UNITS_MS })
  if (problem)
    notes.push(
      `Your work could not be read: ${problem.because}. You may have some. Run: skein work list --agent ${address}`,
    )
  const { unread } = await provider.inbox({ address, id }, { limit: 1, ...(session ? { session } : {}) })
  return {
    work: work.map(({ id, title, status, body }) => ({ id, title, status, ...(body ? { body } : {}) })),
    mail: mail.map(shownMail),
    unread,
  }
}

const shownMail = ({ id, from, subject, body, kind }: Mail): HookedMail => ({ id, from, subject, body, kind })

async function inTime<T>(reading: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    const error = new SkeinError('home-busy', `no answer within ${WAIT_MS} ms`, 'Try again')
    timer = setTimeout(() => reject(error), WAIT_MS)
  })
  try {
    return await Promise.race([reading, late])
  } finally {
    clearTimeout(timer)
  }
}
