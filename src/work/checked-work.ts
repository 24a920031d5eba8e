import {
  type ClosedStatus,
  type HandoffEntry,
  type HandoffRecord,
  isStaleFor,
  type Mail,
  type SessionId,
  SkeinError,
  type WorkUnit,
} from '../model/index.js'
import type { Health, Hooked, Inbox, NewMail, NewWork, WorkAgent, WorkFilter, WorkProvider } from './work-provider.js'

const MOST_LINE = 500
/** Of bytes: a body is copied with each change of its unit. */
const MOST_BODY = 256 * 1024

/** What providers need of the home they work for. */
export interface WorkSurroundings {
  /** What may be kept of words: without secrets, and without what was purged. */
  keptWords(words: Readonly<Record<string, string>>): Promise<Record<string, string>>
  /** The session an agent is in, or was in last. */
  sessionOf(agent: WorkAgent): Promise<SessionId | undefined>
}

/** What is the same for every provider: words are checked and filtered before they are kept, and mail is judged for its reader. */
export class CheckedWork implements WorkProvider {
  constructor(
    private readonly provider: () => Promise<WorkProvider>,
    private readonly home: WorkSurroundings,
  ) {}

  async keeper(): Promise<'built-in' | 'beads'> {
    return (await this.provider()).keeper()
  }

  async health(): Promise<Health> {
    return (await this.provider()).health()
  }

  async add(work: NewWork): Promise<WorkUnit> {
    const { title, body } = work
    const words = await this.#kept({ title: lineOf('title', title), ...(body === undefined ? {} : { body }) })
    return (await this.provider()).add({ ...work, ...words })
  }

  async list(filter?: WorkFilter): Promise<WorkUnit[]> {
    return (await this.provider()).list(filter)
  }

  async show(id: string): Promise<WorkUnit> {
    return (await this.provider()).show(id)
  }

  async hook(id: string, agent: WorkAgent): Promise<WorkUnit> {
    return (await this.provider()).hook(id, agent)
  }

  async unhook(id: string): Promise<WorkUnit> {
    return (await this.provider()).unhook(id)
  }

  async begin(id: string): Promise<WorkUnit> {
    return (await this.provider()).begin(id)
  }

  async detach(id: string): Promise<WorkUnit> {
    return (await this.provider()).detach(id)
  }

  async close(id: string, as: { status: ClosedStatus; reason?: string; session?: SessionId }): Promise<WorkUnit> {
    const words = as.reason === undefined ? {} : await this.#kept({ reason: lineOf('reason', as.reason) })
    return (await this.provider()).close(id, { ...as, ...words })
  }

  async hookedMail(): Promise<Mail[]> {
    return (await this.provider()).hookedMail()
  }

  async hooked(agent: WorkAgent, options?: { waitMs?: number }): Promise<Hooked> {
    return (await this.provider()).hooked(agent, options)
  }

  async send(mail: NewMail): Promise<Mail> {
    const { subject, body, to, for_session = await this.home.sessionOf(to) } = mail
    const words = await this.#kept({ subject: lineOf('subject', subject), body })
    return (await this.provider()).send({ ...mail, ...words, ...(for_session === undefined ? {} : { for_session }) })
  }

  async inbox(agent: WorkAgent, options: { all?: boolean; session?: SessionId; limit?: number } = {}): Promise<Inbox> {
    const inbox = await (await this.provider()).inbox(agent, options)
    const session = options.session ?? (await this.home.sessionOf(agent))
    return { ...inbox, mail: judged(inbox.mail, session) }
  }

  async readMail(id: string, options?: { session?: SessionId; peek?: boolean }): Promise<Mail> {
    const mail = await (await this.provider()).readMail(id, options)
    return options?.session !== undefined && isStaleFor(mail, options.session) ? { ...mail, is_stale: true } : mail
  }

  async reply(
    id: string,
    reply: { body: string; subject?: string; from?: WorkAgent; from_session?: SessionId },
  ): Promise<Mail> {
    const { subject, body } = reply
    const words = await this.#kept({ body, ...(subject === undefined ? {} : { subject: lineOf('subject', subject) }) })
    return (await this.provider()).reply(id, { ...reply, ...words })
  }

  async hookMail(id: string, agent: WorkAgent): Promise<Mail> {
    return (await this.provider()).hookMail(id, agent)
  }

  async settleMail(id: string, by?: { session?: SessionId }): Promise<Mail> {
    return (await this.provider()).settleMail(id, by)
  }

  async handoffRecord(agent: WorkAgent): Promise<HandoffRecord | undefined> {
    return (await this.provider()).handoffRecord(agent)
  }

  async appendHandoffRecord(agent: WorkAgent, entry: Omit<HandoffEntry, 'at'>): Promise<HandoffRecord> {
    const words = await this.#kept({ subject: lineOf('subject', entry.subject) })
    return (await this.provider()).appendHandoffRecord(agent, { ...entry, ...words })
  }

  async #kept<Words extends Partial<Record<string, string>>>(words: Words): Promise<Words> {
    if (words.body !== undefined) refuseLong(words.body)
    const given = Object.entries(words).filter((entry): entry is [string, string] => entry[1] !== undefined)
    const kept = await this.home.keptWords(Object.fromEntries(given))
    return Object.fromEntries(given.map(([name]) => [name, kept[name] ?? '[removed]'])) as Words
  }
}

/** Stale ones last, marked; otherwise in their order. */
function judged(mail: readonly Mail[], session: SessionId | undefined): Mail[] {
  const stale = mail.filter((one) => isStaleFor(one, session))
  const fresh = mail.filter((one) => !isStaleFor(one, session))
  return [...fresh, ...stale.map((one) => ({ ...one, is_stale: true }))]
}

/** One line that says something: it is shown in lists. */
function lineOf(name: string, text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  if (line === '') throw new SkeinError('bad-input', `The ${name} is empty`, 'Say in a few words what it is about')
  if (line.length <= MOST_LINE) return line
  throw new SkeinError(
    'bad-input',
    `The ${name} has ${line.length} characters; at most ${MOST_LINE} are kept`,
    'Put the rest into the body',
  )
}

function refuseLong(body: string): void {
  const bytes = Buffer.byteLength(body)
  if (bytes <= MOST_BODY) return
  throw new SkeinError(
    'bad-input',
    `The body has ${bytes} bytes; at most ${MOST_BODY} are kept`,
    'Put it into a file, and name the file',
  )
}
