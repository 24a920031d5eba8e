import { basename, dirname, join } from 'node:path'
import type { Fact } from '../log/fact.js'
import { identifyByHead } from '../log/identify.js'
import { readJsonl } from '../log/jsonl-log.js'
import { fileLog, filesBelow, withoutDoubles } from '../log/log-files.js'
import { CAN, cannot, type Environment, type LogRef, type LogTool, type ReadOptions } from '../log/log-tool.js'
import { QwenTranslator } from './qwen-translator.js'

const NAME = 'qwen'
const PLACE = /^projects\/(?:[^/]+\/)?chats\/[^/]+\.jsonl$/

export const qwen: LogTool = {
  name: NAME,
  can: {
    append: CAN,
    branches: CAN,
    usage: CAN,
    durations: CAN,
    origin: cannot('no such field has been seen'),
    sub_agents: cannot('no recorded session has one'),
    cwd: CAN,
    git_branch: CAN,
    aborted: cannot('no recorded session has one'),
    failed: cannot('no recorded session has one'),
    compacted: CAN,
  },
  roots,
  discover: (environment) => withoutDoubles(roots(environment).flatMap(logsUnder)),
  isLogAt: (place) => PLACE.test(place),
  logAt: (path) => logOf(dirname(dirname(dirname(dirname(path)))), path),
  identify: (log) => identifyByHead(qwen, log),
  read,
}

function read(log: LogRef, options: ReadOptions = {}): Iterable<Fact> {
  return readJsonl(log, options, (setup) => new QwenTranslator(setup))
}

function roots({ home, env, extraRoots }: Environment): string[] {
  return [env.QWEN_RUNTIME_DIR || env.QWEN_HOME || join(home, '.qwen'), ...(extraRoots?.[NAME] ?? [])]
}

/** `projects/<path with dashes>/chats/<session>.jsonl`. */
function logsUnder(root: string): (LogRef | undefined)[] {
  return filesBelow(join(root, 'projects'), (name) => name.endsWith('.jsonl'), 2)
    .filter((path) => basename(dirname(path)) === 'chats')
    .map((path) => logOf(root, path))
}

function logOf(root: string, path: string): LogRef | undefined {
  return fileLog(NAME, root, path, { session: basename(path, '.jsonl') })
}
