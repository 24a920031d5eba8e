import { dirname, join } from 'node:path'
import { readDocument } from '../log/document-log.js'
import type { Fact } from '../log/fact.js'
import { identifyByHead } from '../log/identify.js'
import { readJsonl } from '../log/jsonl-log.js'
import { fileLog, filesBelow, listDirectory, withoutDoubles } from '../log/log-files.js'
import { CAN, cannot, type Environment, type LogRef, type LogTool, type ReadOptions } from '../log/log-tool.js'
import { projectFolder, projectHash } from './gemini-project.js'
import { documentRecords } from './gemini-records.js'
import { GeminiTranslator } from './gemini-translator.js'

const NAME = 'gemini'
const SESSION_FILE = /^session-.+\.jsonl?$/
const PLACE = /^tmp\/[^/]+\/chats\/(?:session-[^/]+\.jsonl?|[^/]+\/.+\.jsonl)$/

export const gemini: LogTool = {
  name: NAME,
  can: {
    append: CAN,
    branches: cannot('the log keeps one list of messages, without those that a rewind removed'),
    usage: CAN,
    durations: cannot('only the times of message and result are logged, with the wait for a permission between them'),
    origin: cannot('a session made from another one’s file does not name it'),
    sub_agents: cannot('the folder names the session that started one, but not the call'),
    cwd: CAN,
    git_branch: cannot('the branch is not logged'),
    aborted: CAN,
    failed: CAN,
    compacted: CAN,
  },
  roots,
  discover: (environment) => withoutDoubles(roots(environment).flatMap(logsUnder)),
  isLogAt: (place) => PLACE.test(place),
  logAt: (path) => fileLog(NAME, dirname(dirname(projectFolder(path))), path),
  identify: (log) => identifyByHead(gemini, log),
  read,
  projectHash,
  cut: async (log, at, target) => (await import('./gemini-cut.js')).cutGemini(log, at, target),
}

/** `GEMINI_CLI_HOME` replaces the home directory, not `.gemini` in it. */
function roots({ home, env, extraRoots }: Environment): string[] {
  return [join(env.GEMINI_CLI_HOME || home, '.gemini'), ...(extraRoots?.[NAME] ?? [])]
}

/** `tmp/<project>/chats/session-….jsonl`, sub-agents in `chats/<session>/`; before, the project was a hash and a session one JSON document. */
function logsUnder(root: string): (LogRef | undefined)[] {
  return listDirectory(join(root, 'tmp')).flatMap((project) =>
    listDirectory(join(project.path, 'chats')).flatMap((entry) => {
      if (entry.isDirectory)
        return filesBelow(entry.path, (name) => name.endsWith('.jsonl'), 1).map((path) => fileLog(NAME, root, path))
      return SESSION_FILE.test(entry.name) ? [fileLog(NAME, root, entry.path)] : []
    }),
  )
}

function* read(log: LogRef, options: ReadOptions = {}): Iterable<Fact> {
  const make = (setup: ConstructorParameters<typeof GeminiTranslator>[0]) => new GeminiTranslator(setup)
  if (log.path.endsWith('.json')) yield* readDocument(log, options, make, documentRecords)
  else yield* readJsonl(log, options, make)
}
