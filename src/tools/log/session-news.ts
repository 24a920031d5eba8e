import type { Instant } from '../../model/index.js'
import type { Fact, SessionNews } from './fact.js'

/** Remembers what was reported about a session, so that only changes are reported. */
export class SessionReporter {
  constructor(
    private readonly tell: (fact: Fact) => void,
    private told: SessionNews = {},
  ) {}

  get known(): SessionNews {
    return this.told
  }

  /** Tells the fields that differ from what is known. Asked with every line of a log, and hardly ever is there news. */
  report(news: SessionNews): void {
    let update: SessionNews | undefined
    for (const key in news) {
      const value = news[key as keyof SessionNews]
      if (value === undefined || same(this.told[key as keyof SessionNews], value)) continue
      update ??= {}
      Object.assign(update, { [key]: value })
    }
    if (!update) return
    this.told = { ...this.told, ...update }
    this.tell({ kind: 'session', ...update })
  }

  /** Tells the fields that are not known yet. */
  reportFirst(news: SessionNews): void {
    const isKnown = (key: string): boolean => this.told[key as keyof SessionNews] !== undefined
    if (Object.keys(news).every(isKnown)) return
    this.report(Object.fromEntries(Object.entries(news).filter(([key]) => !isKnown(key))))
  }
}

/** Whether something happened before the session began: then it was copied from another one. Where a log has no header, nothing is. */
export const isFromBefore = (at: Instant | undefined, { started_at }: SessionNews): boolean =>
  at !== undefined && started_at !== undefined && at < started_at

/** What is said of a call that was made before. */
export const copiedBefore = (
  at: Instant | undefined,
  news: SessionNews,
): Pick<Extract<Fact, { kind: 'usage' }>, 'copied' | 'copied_from' | 'copied_at'> =>
  isFromBefore(at, news) ? { copied: true, copied_from: news.origin?.session, copied_at: news.started_at } : {}

const same = (a: unknown, b: unknown): boolean =>
  a === b || (typeof b === 'object' && JSON.stringify(a) === JSON.stringify(b))
