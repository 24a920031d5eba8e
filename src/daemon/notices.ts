import { type Context, type Instant, msOf } from '../model/index.js'
import { type Notice, noticeOf } from './attention.js'
import type { NoticeBook } from './notice-book.js'
import { type Delivery, deliver, type Outlets } from './notifier.js'
import { type NotifySettings, type Way, waysFor } from './notify-settings.js'
import type { SeenAgent } from './roll.js'

/** What began longer ago than this is no news: the daemon was away, and the list shows it anyway. */
const STALE_MS = 15 * 60_000
/** Of more than so many at once, the rest is told in one notice: a screen full of them helps nobody. */
const AT_ONCE = 4

/** Tells users when an agent begins to wait, fails or finishes: once each. */
export class Notices {
  readonly #said = new Set<string>()
  #telling: Promise<void> = Promise.resolve()

  constructor(
    private readonly book: NoticeBook,
    private readonly outlets: Outlets,
    private readonly clock: Context['clock'],
    private readonly say: (line: string) => void,
  ) {}

  /** Looks at all agents and tells what is new. Never rejects: a notice that fails is a line in the log. */
  look(agents: readonly SeenAgent[], settings: NotifySettings): void {
    const nowMs = this.clock.now()
    const fresh = agents.flatMap((agent) => {
      const notice = noticeOf(agent)
      return notice && this.book.isNew(agent.id, notice.key) ? [{ agent: agent.id, notice, key: notice.key }] : []
    })
    this.book.keepOnly(new Set(agents.map(({ id }) => id)))
    this.book.note(fresh)
    const wanted = fresh
      .map(({ notice }) => ({ notice, ways: waysFor(notice, settings, new Date(nowMs)) }))
      .filter(({ notice, ways }) => ways.length > 0 && nowMs - msOf(notice.since as Instant) < STALE_MS)
    const [shown, rest] = [wanted.slice(0, AT_ONCE), wanted.slice(AT_ONCE)]
    if (rest.length > 0) {
      const ways = [...new Set(rest.flatMap(({ ways }) => ways))]
      shown.push({ notice: summaryOf(rest.map(({ notice }) => notice)), ways })
    }
    this.#telling = shown.reduce(
      (before, { notice, ways }) => before.then(() => this.#tell(notice, ways, settings)),
      this.#telling,
    )
  }

  /** Tells something made up, to see how it arrives. */
  try(ways: readonly Way[], settings: NotifySettings): Promise<Delivery[]> {
    const notice: Notice = {
      kind: 'waiting',
      key: 'test',
      agent: 'skein',
      since: '',
      title: 'Skein can reach you',
      body: 'This is a test: no agent waits',
    }
    return deliver(notice, ways, settings, this.outlets)
  }

  /** Until everything that was begun is told. */
  async settled(): Promise<void> {
    await this.#telling
  }

  async #tell(notice: Notice, ways: readonly Way[], settings: NotifySettings): Promise<void> {
    for (const { way, failed } of await deliver(notice, ways, settings, this.outlets)) {
      if (failed === undefined || this.#said.has(way + failed)) continue
      this.#said.add(way + failed)
      this.say(`a notice could not be shown by ${way}: ${failed}`)
    }
  }
}

function summaryOf(notices: readonly Notice[]): Notice {
  const names = notices.map(({ agent }) => agent).join(', ')
  const [first] = notices
  return {
    kind: 'waiting',
    key: 'many',
    agent: '',
    since: first?.since ?? '',
    title: `${notices.length} more agents need you`,
    body: names.slice(0, 200),
  }
}
