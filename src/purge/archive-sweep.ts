import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Archive, type ArchivedContent, type ArchiveKey, type ReadMark } from '../archive/index.js'
import { FactForgetter } from '../ingest/index.js'
import type { Context } from '../model/index.js'
import type { Fact } from '../tools/index.js'
import type { Sweep } from './sweep.js'

/** The words that are kept for when the tools have deleted their logs, in every version of a log. */
export async function sweepArchive(directory: string, sweep: Sweep, context: Context): Promise<void> {
  if (!existsSync(directory)) return
  using archive = new Archive(directory, context)
  for (const key of archive.keys()) {
    const contents = [
      archive.read(key),
      ...(archive.entry(key)?.versions ?? []).map(({ number }) => archive.read(key, number)),
    ]
    const known = contents.filter((content) => content !== undefined)
    const isGone = known.some(({ standing }) => standing.session !== undefined && sweep.sessions.has(standing.session))
    const count = isGone ? known.length : known.reduce((sum, content) => sum + countIn(content, sweep), 0)
    const place = join(directory, key.tool, key.name)
    sweep.found(place, count)
    if (sweep.dryRun) continue
    if (isGone) await archive.remove(key)
    else if (count > 0) await forgetIn(archive, key, sweep)
    // What a killed process left behind a live file counts for nothing, and goes when it is sealed.
    else if (holdsRemains(archive, key, sweep)) await archive.seal(key)
  }
  if (sweep.dryRun) return
  await archive.tidy()
  removeRemains(directory)
}

async function forgetIn(archive: Archive, key: ArchiveKey, sweep: Sweep): Promise<void> {
  const forget = new FactForgetter(sweep.forgetter)
  const change = (fact: Fact): Fact => {
    const after = forget.storable(fact)
    return JSON.stringify(after) === JSON.stringify(fact) ? fact : after
  }
  await archive.rewrite(key, change, (standing) => forgottenStanding(standing, sweep))
}

function forgottenStanding(standing: ReadMark, { forgetter }: Sweep): ReadMark {
  if (standing.cwd === undefined) return standing
  const { value, count } = forgetter.text(standing.cwd)
  return count === 0 ? standing : { ...standing, cwd: value }
}

function countIn({ facts, standing }: ArchivedContent, { forgetter }: Sweep): number {
  const ofStanding = standing.cwd === undefined ? 0 : forgetter.text(standing.cwd).count
  return facts.reduce((sum, fact) => sum + forgetter.json(fact).count, ofStanding)
}

function holdsRemains(archive: Archive, key: ArchiveKey, { forgetter }: Sweep): boolean {
  const bytes = archive.liveBytes(key)
  return bytes !== undefined && forgetter.text(bytes.toString()).count > 0
}

/** Files that were being written when their process was killed: packed, so that nobody can tell what is in them. */
function removeRemains(directory: string): void {
  for (const name of readdirSync(directory, { recursive: true, encoding: 'utf8' }))
    if (/\.tmp-\d+$/.test(name)) rmSync(join(directory, name), { force: true })
}
