import { dirname } from 'node:path'
import type { Fact } from '../log/fact.js'
import { identifyByHead } from '../log/identify.js'
import { readJsonl } from '../log/jsonl-log.js'
import { fileLog, withoutDoubles } from '../log/log-files.js'
import { CAN, cannot, type LogRef, type LogTool, type ReadOptions } from '../log/log-tool.js'
import { lacksHistory } from './codex-history.js'
import { sessionInName } from './codex-name.js'
import { CODEX_FOLDERS, codexLogsUnder, codexRoots, isCodexLog } from './codex-roots.js'
import { CodexTranslator } from './codex-translator.js'

const NAME = 'codex'

export const codex: LogTool = {
  name: NAME,
  can: {
    append: CAN,
    branches: CAN,
    usage: CAN,
    durations: cannot('a shell is timed only until its first answer, so the times of call and result are used'),
    origin: CAN,
    sub_agents: CAN,
    cwd: CAN,
    git_branch: CAN,
    aborted: CAN,
    failed: CAN,
    compacted: CAN,
  },
  roots: codexRoots,
  discover: (environment) => withoutDoubles(codexRoots(environment).flatMap(logsUnder)),
  isLogAt: isCodexLog,
  logAt: (path) => fileLog(NAME, rootOf(path), path, { session: sessionInName(path) }),
  identify: (log) => identifyByHead(codex, log),
  read,
  lacksHistory,
  cut: async (log, at, target) => (await import('./codex-cut.js')).cutCodex(log, at, target),
}

const logsUnder = (root: string): (LogRef | undefined)[] =>
  codexLogsUnder(root).map((path) => fileLog(NAME, root, path, { session: sessionInName(path) }))

/** The directory above Codex's own folders, or the log's own directory if it is elsewhere: its origins are searched below it. */
function rootOf(path: string): string {
  const at = Math.max(...CODEX_FOLDERS.map((folder) => path.lastIndexOf(`/${folder}/`)))
  return at > 0 ? path.slice(0, at) : dirname(path)
}

function read(log: LogRef, options: ReadOptions = {}): Iterable<Fact> {
  return readJsonl(log, options, (setup) => new CodexTranslator(setup))
}
