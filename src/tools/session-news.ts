import type { Fact, SessionNews } from './fact.js'

/** Remembers what was told about a session, so that only news is told. */
export class NewsDesk {
  constructor(
    private readonly tell: (fact: Fact) => void,
    private told: SessionNews = {},
  ) {}

  get known(): SessionNews {
    return this.told
  }

  /** Tells the fields that differ from what is known. */
  report(news: SessionNews): void {
    const fresh = Object.entries(news).filter(
      ([key, value]) => value !== undefined && !same(this.told[key as keyof SessionNews], value),
    )
    if (fresh.length === 0) return
    const update = Object.fromEntries(fresh) as SessionNews
    this.told = { ...this.told, ...update }
    this.tell({ kind: 'session', ...update })
  }

  /** Tells the fields that are not known yet. */
  reportFirst(news: SessionNews): void {
    this.report(
      Object.fromEntries(Object.entries(news).filter(([key]) => this.told[key as keyof SessionNews] === undefined)),
    )
  }
}

const same = (a: unknown, b: unknown): boolean =>
  a === b || (typeof b === 'object' && JSON.stringify(a) === JSON.stringify(b))
