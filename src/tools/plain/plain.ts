import { dirname, join } from 'node:path'
import { isObject, type JsonObject, listAt } from '../json-value.js'
import { readDocument } from '../log/document-log.js'
import type { Fact } from '../log/fact.js'
import { identifyByHead } from '../log/identify.js'
import { fileLog, filesBelow, withoutDoubles } from '../log/log-files.js'
import { CAN, cannot, type Environment, type LogRef, type LogTool, type ReadOptions } from '../log/log-tool.js'
import { PlainTranslator } from './plain-translator.js'

const NAME = 'plain'

/** One JSON document per conversation: `{"id", "messages": […], "usage"}`. The form for programs that have none of their own. */
export const plain: LogTool = {
  name: NAME,
  can: {
    append: cannot('the file is rewritten each time'),
    branches: cannot('a document is one list of messages'),
    usage: CAN, // the sum of a conversation, as one call
    durations: CAN,
    origin: cannot('the form has no field for it'),
    sub_agents: cannot('the form has no field for it'),
    cwd: CAN,
    git_branch: CAN,
    aborted: cannot('the form has no field for it'),
    failed: cannot('the form has no field for it'),
    compacted: cannot('the form has no field for it'),
  },
  roots: ({ extraRoots }) => [...(extraRoots?.[NAME] ?? [])],
  discover: (environment) => withoutDoubles(roots(environment).flatMap(logsUnder)),
  isLogAt: (place, root) => place.endsWith('.json') && isOurs(root, join(root, place)),
  logAt: (path) => fileLog(NAME, dirname(path), path),
  identify: (log) => identifyByHead(plain, log),
  read,
}

/** Nothing writes this form by itself, so it is looked for where the configuration says, and where the first design had it. */
function roots({ home, env, extraRoots }: Environment): string[] {
  const claude = join(env.CLAUDE_CONFIG_DIR?.split(',')[0]?.trim() || join(home, '.claude'), 'projects')
  return [...(extraRoots?.[NAME] ?? []), claude]
}

function logsUnder(root: string): (LogRef | undefined)[] {
  return filesBelow(root, (name) => name.endsWith('.json'))
    .filter((path) => isOurs(root, path))
    .map((path) => fileLog(NAME, root, path))
}

const isOurs = (root: string, path: string): boolean =>
  !root.endsWith('/projects') || path.includes('/.claude/conversations/')

function* read(log: LogRef, options: ReadOptions = {}): Iterable<Fact> {
  yield* readDocument(log, options, (setup) => new PlainTranslator(setup), recordsOf)
}

function* recordsOf(document: JsonObject): Iterable<JsonObject> {
  const { messages: _, ...header } = document
  yield { header }
  yield* listAt(document, 'messages').filter(isObject)
}
