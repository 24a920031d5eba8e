import type { ShownPage } from '../../operations/index.js'
import type { Cli } from '../command.js'
import { BEGINNING, sessionTable, shortIdsOf } from './session-table.js'

/** The page as a table, with a word on stderr about what it leaves out. */
export const showPage = (page: ShownPage, cli: Cli): Promise<void> => show(page, cli, [])

/** The same, with why each session began. */
export const showBeginnings = (page: ShownPage, cli: Cli): Promise<void> => show(page, cli, BEGINNING)

async function show(page: ShownPage, { home, out }: Cli, more: typeof BEGINNING): Promise<void> {
  const short = await shortIdsOf(await home(), page.sessions)
  out.result(page, (screen) => sessionTable(page.sessions, screen, short, more))
  if (page.sessions.length === 0) out.note('No sessions match. See all: skein sessions list --all')
  if (page.next_cursor !== undefined) out.note(`There are more: --limit <n>, --all or --cursor ${page.next_cursor}`)
}
