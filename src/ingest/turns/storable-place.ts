import { filterText, redactValue } from '../../privacy/index.js'
import type { Resume, SessionNews } from '../../tools/index.js'
import type { HistoryStore } from './history-store.js'

/**
 * A place to go on from, without secrets. A reader that stopped in the middle of a turn remembers the beginning of the prompt and the
 * title; it tells them again from here, and redacting twice gives what redacting once gives.
 */
export function storablePlace(resume: Resume): Resume {
  const { place } = resume
  if (typeof place !== 'object' || place === null || !('state' in place)) return resume
  const state = redactValue(place.state, {})
  return state === place.state ? resume : { ...resume, place: { ...place, state } }
}

/** Titles and places that were stored under older rules, filtered by those of today. Returns how many logs it changed. */
export function refilterPlaces({ ledger }: HistoryStore, { dryRun }: { dryRun: boolean }): number {
  const rows = ledger.all('select n, news, resume from history_logs') as {
    n: number
    news: string
    resume: string | null
  }[]
  const changed = rows.flatMap(({ n, news, resume }) => {
    const told = JSON.parse(news) as SessionNews
    const title = told.title && filterText(told.title).text
    const prompt = told.prompt && filterText(told.prompt).text
    const isClean = title === told.title && prompt === told.prompt
    const cleanNews = isClean ? news : JSON.stringify({ ...told, title, prompt })
    const cleanResume = resume && JSON.stringify(storablePlace(JSON.parse(resume) as Resume))
    return cleanNews === news && cleanResume === resume ? [] : [{ n, news: cleanNews, resume: cleanResume }]
  })
  if (dryRun || changed.length === 0) return changed.length
  ledger.inTransaction(() => {
    for (const { n, news, resume } of changed)
      ledger.run('update history_logs set news = ?, resume = ? where n = ?', news, resume, n)
  })
  return changed.length
}
