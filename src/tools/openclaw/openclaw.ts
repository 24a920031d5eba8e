import { basename, dirname, join } from 'node:path'
import type { Fact } from '../log/fact.js'
import { identifyByHead } from '../log/identify.js'
import { fileLog, listDirectory, withoutDoubles } from '../log/log-files.js'
import { cannot, type Environment, type LogRef, type LogTool, type ReadOptions } from '../log/log-tool.js'
import { PI_ABILITIES, readPi } from '../pi/pi.js'
import { ConversationNames } from './conversation-names.js'

const NAME = 'openclaw'
/** A transcript, or one that was put aside when its conversation was reset or deleted. */
const TRANSCRIPT = /^([A-Za-z0-9][A-Za-z0-9._-]*?)(?:-topic-[^/]+)?\.jsonl(?:\.(?:reset|deleted)\.[^/]+Z)?$/
const NOT_TRANSCRIPTS = /\.trajectory\.jsonl|\.checkpoint\.[0-9a-f-]+\.jsonl/

const names = new ConversationNames()

export const openclaw: LogTool = {
  name: NAME,
  can: {
    ...PI_ABILITIES,
    sub_agents: cannot('which session spawned another is in the store, not in the transcript'),
    origin: cannot('2026.7.2 and later keep sessions in a database that no recorded fixture covers'),
  },
  roots,
  discover: (environment) => withoutDoubles(roots(environment).flatMap(logsUnder)),
  isLogAt: (place) => /^agents\/[^/]+\/sessions\/[^/]+$/.test(place) && isTranscript(basename(place)),
  logAt: (path) => logOf(dirname(dirname(dirname(dirname(path)))), path),
  identify: (log) => identifyByHead(openclaw, log),
  read,
}

function roots({ home, env, extraRoots }: Environment): string[] {
  return [env.OPENCLAW_STATE_DIR || join(home, '.openclaw'), ...(extraRoots?.[NAME] ?? [])]
}

/** `agents/<agent>/sessions/<session>.jsonl`. */
function logsUnder(root: string): (LogRef | undefined)[] {
  return listDirectory(join(root, 'agents')).flatMap((agent) =>
    listDirectory(join(agent.path, 'sessions'))
      .filter((entry) => !entry.isDirectory && isTranscript(entry.name))
      .map((entry) => logOf(root, entry.path)),
  )
}

const isTranscript = (name: string): boolean => TRANSCRIPT.test(name) && !NOT_TRANSCRIPTS.test(name)

function logOf(root: string, path: string): LogRef | undefined {
  return fileLog(NAME, root, path, { session: TRANSCRIPT.exec(basename(path))?.[1] })
}

/** A session is named where its conversation is kept, not in its transcript. What is read on of a log has been named before. */
function* read(log: LogRef, options: ReadOptions = {}): Iterable<Fact> {
  const title = names.of(log)
  const named: Fact[] = title ? [{ kind: 'session', title }] : []
  if (!options.from) yield* named
  for (const fact of readPi(log, options)) {
    yield fact
    if (fact.kind === 'restart') yield* named
  }
}
