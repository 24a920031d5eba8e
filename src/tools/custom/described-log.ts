import { dirname, join, relative, sep } from 'node:path'
import { type JsonPath, valueAt } from '../json-path.js'
import { isObject, type JsonObject } from '../json-value.js'
import { readDocument } from '../log/document-log.js'
import type { Fact } from '../log/fact.js'
import { identifyByHead } from '../log/identify.js'
import { readJsonl } from '../log/jsonl-log.js'
import { fileLog, filesBelow, withoutDoubles } from '../log/log-files.js'
import { CAN, cannot, type Environment, type LogRef, type LogTool, type ReadOptions } from '../log/log-tool.js'
import { DescribedTranslator } from './described-translator.js'
import type { LogDescription } from './log-description.js'

/** Reads the logs of a tool by its description. */
export function describedLogTool(name: string, description: LogDescription): LogTool {
  const below = ({ home }: Environment): string =>
    description.root.startsWith('~/') ? join(home, description.root.slice(2)) : description.root
  // Another home in this process may not have this tool.
  const roots = (environment: Environment): string[] =>
    environment.described?.includes(name) ? [below(environment)] : []
  const isLogAt = (place: string): boolean => description.isLog.test(place.split(sep).join('/'))
  const tool: LogTool = {
    name,
    can: {
      append: description.format === 'jsonl' ? CAN : cannot('the file is rewritten each time'),
      branches: cannot('a log is one list of messages'),
      usage: description.input_tokens || description.output_tokens ? CAN : cannot('log_input_tokens is not configured'),
      durations: cannot('only messages are described'),
      origin: cannot('only messages are described'),
      sub_agents: cannot('only messages are described'),
      cwd: description.cwd ? CAN : cannot('log_cwd is not configured'),
      git_branch: cannot('only messages are described'),
      aborted: cannot('only messages are described'),
      failed: cannot('only messages are described'),
      compacted: cannot('only messages are described'),
    },
    roots,
    discover: (environment) =>
      withoutDoubles(
        roots(environment).flatMap((root) =>
          filesBelow(root, () => true, description.depth)
            .filter((path) => isLogAt(relative(root, path)))
            .map((path) => fileLog(name, root, path)),
        ),
      ),
    isLogAt,
    logAt: (path) => fileLog(name, dirname(path), path),
    identify: (log) => identifyByHead(tool, log),
    read: (log, options = {}) => read(description, log, options),
  }
  return tool
}

function* read(description: LogDescription, log: LogRef, options: ReadOptions): Iterable<Fact> {
  const make = (setup: ConstructorParameters<typeof DescribedTranslator>[0]) =>
    new DescribedTranslator(setup, description)
  const { messages } = description
  if (description.format === 'jsonl') yield* readJsonl(log, options, make)
  else yield* readDocument(log, options, make, (document) => recordsOf(document, messages ?? []))
}

/** What the document says of the whole conversation, then each message. */
function* recordsOf(document: JsonObject, messages: JsonPath): Iterable<JsonObject> {
  const list = valueAt(document, messages)
  const [first = ''] = messages
  const { [first]: _messages, ...header } = document
  yield header
  yield* Array.isArray(list) ? list.filter(isObject) : []
}
