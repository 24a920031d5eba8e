import type { ArchivedContent, ArchiveEntry, ArchiveReader } from '../../archive/index.js'
import { type CountedRows, countFacts, type HistoryStore, wasCut } from '../../ingest/index.js'
import { LOG_TOOLS, type LogRef } from '../../tools/index.js'
import { logOfEntry } from '../pending-logs.js'
import type { ArchiveCheck } from './archive-api.js'

/** Reads everything in the archive, and compares it with what was counted and with the logs that are still there. */
export function verifyArchive(archive: ArchiveReader, history: HistoryStore | undefined): ArchiveCheck {
  const { entries, unreadable } = archive.entries()
  const foreign = archive.foreign()
  const isForeign = (path: string): boolean => [path, `${path}.live`, `${path}.sealed`].some((one) => foreign.has(one))
  const packs = archive.damagedPacks().filter((name) => !isForeign(name))
  const nothingRead = unreadable.map(({ tool, name }) => `${tool}/${name}`).filter((path) => !isForeign(path))
  const problems = [
    ...Array.from(foreign, ([path, what]) => `${path}: is ${what}, not a file that Skein wrote; move it away`),
    ...packs.map((name) => `${name}: its first line is damaged, so nothing in it can be found`),
    ...nothingRead.map((path) => `${path}: cannot be read`),
  ]
  let [facts, behind, compared] = [0, 0, 0]
  for (const entry of entries) {
    const content = archive.read(entry)
    const name = `${entry.tool}/${entry.name}`
    for (const { number } of entry.versions) {
      const version = archive.read(entry, number)
      problems.push(...(version?.problems ?? [`${name}~${number}.sealed: cannot be read`]))
    }
    if (!content) {
      problems.push(`${name}: cannot be read`)
      continue
    }
    if (archive.keyOf(content.origin).name !== entry.name) {
      problems.push(`${name}: contains another log, ${content.origin.path}; move it away`)
      continue
    }
    facts += content.facts.length
    const damage = content.problems.length > 0 ? content.problems : missingFacts(entry, content)
    problems.push(...damage)
    const log = logOfEntry(entry)
    if (log && log.stamp !== content.standing.stamp) behind += 1
    if (damage.length > 0) continue
    const kept = countFacts(entry.tool, content.facts)
    const { path, part } = entry.origin
    const counted = history?.rowsOf(path, part)
    if (history && !counted) problems.push(`${name}: not in history.db; run skein ingest`)
    else if (counted && differ(kept, counted)) problems.push(`${name}: history.db counts other turns or tool calls`)
    if (!log || log.stamp !== content.standing.stamp) continue
    const told = countedIn(log)
    if (told) compared += 1
    if (told && (wasCut(log, content.standing) ? lacksSome(kept, told) : differ(kept, told))) {
      problems.push(`${name}: its turns or tool calls differ from those of ${log.path}`)
    }
  }
  const not_archived = history ? notArchived(archive, history) : 0
  return { ok: problems.length === 0, logs: entries.length, facts, behind, compared, not_archived, problems }
}

/** Undefined for a log that cannot be read (any more): then there is nothing to compare with. */
function countedIn(log: LogRef): CountedRows | undefined {
  const tool = LOG_TOOLS.find((one) => one.name === log.tool)
  try {
    return tool && countFacts(log.tool, tool.read(log))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error
    return undefined
  }
}

/** Logs that only the history knows of: read before there was an archive, or removed from it on purpose. */
function notArchived(archive: ArchiveReader, history: HistoryStore): number {
  const names = new Set(archive.keys().map(({ tool, name }) => `${tool}/${name}`))
  return history.places().filter((log) => {
    const { tool, name } = archive.keyOf(log)
    return !names.has(`${tool}/${name}`)
  }).length
}

function missingFacts({ tool, name }: ArchiveEntry, { facts, standing }: ArchivedContent): string[] {
  return facts.length === standing.facts ? [] : [`${tool}/${name}: has ${facts.length} of ${standing.facts} facts`]
}

/** By what does not depend on how a log was read: in one piece or as it grew. */
function differ(a: CountedRows, b: CountedRows): boolean {
  return signature(a) !== signature(b)
}

/** Of a log that was cut the archive has more, but not less. */
function lacksSome(kept: CountedRows, told: CountedRows): boolean {
  const turns = new Set(kept.turns.map(({ agent, turn }) => `${agent} ${turn}`))
  const calls = new Set(kept.calls.map(({ call, result_chars }) => `${call} ${result_chars}`))
  return (
    told.turns.some(({ agent, turn }) => !turns.has(`${agent} ${turn}`)) ||
    told.calls.some(({ call, result_chars }) => result_chars !== null && !calls.has(`${call} ${result_chars}`))
  )
}

function signature({ turns, calls }: CountedRows): string {
  return JSON.stringify([
    turns.map(({ agent, turn, asked_by, prompt_chars }) => [agent, turn, asked_by, prompt_chars].join(' ')).sort(),
    calls.map(({ call, agent, turn, name, result_chars }) => [call, agent, turn, name, result_chars].join(' ')).sort(),
  ])
}
