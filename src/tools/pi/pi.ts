import { dirname, join } from 'node:path'
import type { Fact } from '../log/fact.js'
import { identifyByHead } from '../log/identify.js'
import { readJsonl } from '../log/jsonl-log.js'
import { fileLog, filesBelow, withoutDoubles } from '../log/log-files.js'
import {
  CAN,
  cannot,
  type Environment,
  type LogAbilities,
  type LogRef,
  type LogTool,
  type ReadOptions,
} from '../log/log-tool.js'
import { sessionInName } from './pi-name.js'
import { PiTranslator } from './pi-translator.js'

const NAME = 'pi'

/** What the format can tell; OpenClaw's transcripts are the same. */
export const PI_ABILITIES: LogAbilities = {
  append: CAN,
  branches: CAN,
  usage: CAN,
  durations: cannot('only the times of call and result are logged'),
  origin: CAN,
  sub_agents: cannot('sub-agents are extensions, each with its own way of keeping sessions'),
  cwd: CAN,
  git_branch: cannot('the branch is not logged'),
  aborted: CAN,
  failed: CAN,
  compacted: CAN,
}

export const pi: LogTool = {
  name: NAME,
  can: PI_ABILITIES,
  roots,
  discover: (environment) => withoutDoubles(roots(environment).flatMap(logsUnder)),
  isLogAt: (place) => place.startsWith('sessions/') && place.endsWith('.jsonl'),
  logAt: (path) => fileLog(NAME, dirname(dirname(path)), path, { session: sessionInName(path) }),
  identify: (log) => identifyByHead(pi, log),
  read: readPi,
  cut: async (log, at, target) => (await import('./pi-cut.js')).cutPi(log, at, target),
}

export function readPi(log: LogRef, options: ReadOptions = {}): Iterable<Fact> {
  return readJsonl(log, options, (setup) => new PiTranslator(setup))
}

function roots({ home, env, extraRoots }: Environment): string[] {
  return [env.PI_CODING_AGENT_DIR || join(home, '.pi', 'agent'), ...(extraRoots?.[NAME] ?? [])]
}

/** `sessions/--<path with dashes>--/<time>_<id>.jsonl`. */
function logsUnder(root: string): (LogRef | undefined)[] {
  return filesBelow(join(root, 'sessions'), (name) => name.endsWith('.jsonl')).map((path) =>
    fileLog(NAME, root, path, { session: sessionInName(path) }),
  )
}
