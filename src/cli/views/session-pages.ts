import type { ShownPage } from '../../operations/index.js'
import type { Cli } from '../command.js'
import { sessionTable, shortIdsOf } from './session-table.js'

/** The page as a table, with a word on stderr about what it leaves out. */
export async function showPage(page: ShownPage, { home, out }: Cli): Promise<void> {
  const short = await shortIdsOf(await home(), page.sessions)
  out.result(page, (screen) => sessionTable(page.sessions, screen, short))
  if (page.sessions.length === 0) out.note('No sessions match. See all: skein sessions list --all')
  if (page.next_cursor !== undefined) out.note(`There are more: --limit <n>, --all or --cursor ${page.next_cursor}`)
}
