import { resolve } from 'node:path'
import { realPath } from '../../disk/index.js'
import type { Home } from '../../home/index.js'
import { meaningOf } from '../../lifecycle/index.js'
import type { Session } from '../../model/index.js'
import type { Fact } from '../../tools/index.js'
import { usageError } from '../usage-error.js'

/** Logs that are read for what no snapshot tells, the newest first, and for how long. */
const MOST_LOGS = 500
const BUDGET_MS = 30_000

/** Those that wrote some of a commit, and those that made it. */
export async function sessionsInCommit(home: Home, repository: string | undefined, commit: string): Promise<string[]> {
  if (repository === undefined) throw usageError('The repository is not named', 'Name a directory in it: repository')
  const { explanation } = await home.history.explain(repository, commit)
  return [...new Set([...explanation.writers, ...explanation.made_by].flatMap(({ session }) => session ?? []))]
}

/** By the snapshots of their turns; of sessions without any there by the calls in their logs that change files. */
export async function sessionsThatTouch(home: Home, path: string): Promise<string[]> {
  const { sessions, captured, root } = await home.snapshots.touching(path)
  const found = new Set(sessions)
  const isCaptured = new Set(captured)
  const time = AbortSignal.timeout(BUDGET_MS)
  const page = await home.sessions.query({ limit: 10_000 })
  const mayTouch = ({ id, cwd }: Session): boolean =>
    !isCaptured.has(id) && cwd !== undefined && (isAt(path, cwd) || isAt(cwd, root ?? path))
  for (const session of page.sessions.filter(mayTouch).slice(0, MOST_LOGS)) {
    if (time.aborted) break
    if (await tells(home, session, path)) found.add(session.id)
  }
  return [...found]
}

const isAt = (path: string, directory: string): boolean =>
  path === directory || path.startsWith(directory.endsWith('/') ? directory : `${directory}/`)

/** Whether its log has a call that changed the path and did not fail. */
async function tells(home: Home, { id, cwd = '/' }: Session, path: string): Promise<boolean> {
  const spellings = new Set([path, realPath(path)])
  const isMeant = (named: string): boolean => {
    const full = resolve(cwd, named)
    return [...spellings].some((one) => isAt(full, one))
  }
  const fold = (facts: Iterable<Fact>): boolean => {
    const calls = new Set<string>()
    for (const fact of facts) {
      if (fact.kind === 'tool-call') {
        const meaning = meaningOf(fact.name, fact.arguments)
        const isChange = meaning.kind === 'changes' || meaning.kind === 'runs'
        if (isChange && meaning.paths.some(isMeant)) calls.add(fact.call)
      } else if (fact.kind === 'tool-result' && fact.success === false) calls.delete(fact.call)
    }
    return calls.size > 0
  }
  return (await home.history.facts(id, fold)) ?? false
}
