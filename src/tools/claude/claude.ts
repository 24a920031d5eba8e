import { basename, dirname, join } from 'node:path'
import { textAt } from '../json-value.js'
import type { Fact, SessionNews } from '../log/fact.js'
import { identifyByHead } from '../log/identify.js'
import { readJsonl } from '../log/jsonl-log.js'
import { fileLog, filesBelow, idFromName, isUuid, listDirectory, smallJson, withoutDoubles } from '../log/log-files.js'
import { CAN, cannot, type LogRef, type LogTool, type ReadOptions } from '../log/log-tool.js'
import { clearsUnder } from './claude-clears.js'
import { originAmong } from './claude-copies.js'
import { openClaudeSessions } from './claude-registry.js'
import { claudeRoots } from './claude-roots.js'
import { titlesAtEnd } from './claude-title.js'
import { ClaudeTranslator } from './claude-translator.js'
import { claudeTrim } from './claude-trim.js'
import { ClaudeUsageReader } from './claude-usage-reader.js'

const NAME = 'claude'
const AGENT_FILE = /^agent-(.+)\.jsonl$/
const PLACE = /^projects\/[^/]+\/(?:[^/]+\.jsonl|[^/]+\/subagents\/(?:.+\/)?agent-[^/]+\.jsonl)$/

export const claude: LogTool = {
  name: NAME,
  can: {
    append: CAN,
    branches: CAN,
    usage: CAN,
    durations: cannot('only the times of call and result are logged, with the wait for a permission between them'),
    origin: cannot(
      'only the SDK records the origin of a fork; a copy made by --fork-session is recognised by its lines, and its origin by the times of the files',
    ),
    sub_agents: CAN,
    cwd: CAN,
    git_branch: CAN,
    aborted: CAN,
    failed: CAN,
    compacted: CAN,
  },
  roots: claudeRoots,
  discover: (environment) => withoutDoubles(claudeRoots(environment).flatMap(logsUnder)),
  isLogAt: (place) => PLACE.test(place),
  logAt,
  identify,
  read,
  originAmong: (log, others) => originAmong(log, others),
  successions: (environment) => claudeRoots(environment).flatMap(clearsUnder),
  openSessions: openClaudeSessions,
  usageReader: () => new ClaudeUsageReader(),
  cut: async (log, at, target) => (await import('./claude-cut.js')).cutClaude(log, at, target),
}

/** `projects/<encoded cwd>/<session>.jsonl`, with `<session>/subagents/agent-<id>.jsonl` beside it (2.0.x: `agent-<id>.jsonl` beside it). */
function logsUnder(root: string): (LogRef | undefined)[] {
  return listDirectory(join(root, 'projects')).flatMap((project) => {
    if (!project.isDirectory) return []
    return listDirectory(project.path).flatMap((entry) => {
      if (!entry.isDirectory) return entry.name.endsWith('.jsonl') ? [logOf(root, entry.path)] : []
      const agents = filesBelow(join(entry.path, 'subagents'), (name) => AGENT_FILE.test(name))
      return agents.map((path) => logOf(root, path))
    })
  })
}

function logOf(root: string, path: string): LogRef | undefined {
  const agent = AGENT_FILE.exec(basename(path))?.[1]
  if (!agent) return fileLog(NAME, root, path, { session: sessionInName(basename(path, '.jsonl')) })
  const folder = path.split('/subagents/')[0] ?? ''
  return fileLog(NAME, root, path, { agent, session: sessionInName(basename(folder)) })
}

/** The file's name is the id: a copy under a new name is a new session, whatever its lines say. */
const sessionInName = (stem: string): string | undefined => (isUuid(stem) ? stem : undefined)

function logAt(path: string): LogRef | undefined {
  return logOf(dirname(dirname(dirname(path))), path)
}

function read(log: LogRef, options: ReadOptions = {}): Iterable<Fact> {
  const call = log.agent ? textAt(metaOf(log), 'toolUseId') : undefined
  const shortcut = options.resultChars === undefined ? claudeTrim : undefined // it cuts results in the bytes
  return readJsonl(log, options, (setup) => new ClaudeTranslator(setup, call), shortcut)
}

/** Titles are written as the session goes on, so the newest is near the end. */
function identify(log: LogRef): SessionNews {
  const news = identifyByHead(claude, log)
  if (log.agent) return { ...news, title: textAt(metaOf(log), 'description') }
  const { chosen, found } = titlesAtEnd(log)
  return { id: idFromName(log.path), ...news, title: chosen ?? news.title ?? found }
}

/** What 2.1.x notes beside a sub-agent's log: the call that started it, and what it was asked in a few words. */
const metaOf = (log: LogRef) => smallJson(log.path.replace(/\.jsonl$/, '.meta.json'))
