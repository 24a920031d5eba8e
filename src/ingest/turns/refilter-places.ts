import { storablePlace } from '../../archive/index.js'
import { filterText } from '../../privacy/index.js'
import type { Resume, SessionNews } from '../../tools/index.js'
import type { HistoryStore } from './history-store.js'

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
