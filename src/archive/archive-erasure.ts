import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Erasable, forgetInFile, isUnder, type Meaning, type SoughtWords, type Sweep } from '../erasure/index.js'
import type { Context } from '../model/index.js'
import type { Fact } from '../tools/index.js'
import { Archive } from './archive.js'
import type { ArchivedContent, ArchiveKey } from './archive-reader.js'
import type { ReadMark } from './archived-log.js'
import { archivedTexts } from './archived-texts.js'
import { FactForgetter } from './fact-forgetter.js'

/** The words that are kept for when the tools have deleted their logs, in every version of a log. */
export class ArchiveErasure implements Erasable {
  readonly name = 'archive'

  constructor(
    private readonly directory: string,
    private readonly context: Context,
  ) {}

  owns(path: string): boolean {
    return isUnder(path, this.directory)
  }

  async erase(sweep: Sweep): Promise<void> {
    if (existsSync(this.directory)) await eraseArchive(this.directory, sweep, this.context)
  }

  /** Pieces of the archive: a line, then facts that are packed, again and again. */
  meaning(path: string, head: Buffer, { forgetter, raw }: SoughtWords): Meaning | 'unreadable' | undefined {
    const isGits = head.toString('latin1', 0, 4) === 'PACK'
    if (isGits || !/\.(?:sealed|pack)$/.test(path)) return undefined
    const unpacked = archivedTexts(readFileSync(path))
    if (!unpacked) return 'unreadable'
    const { stretches, texts } = unpacked
    const meant = texts.reduce((sum, text) => sum + forgetInFile(text, forgetter).count, 0)
    const asBytes = stretches.reduce((sum, text) => sum + raw.countIn(text), 0)
    return { bytes: stretches.reduce((sum, text) => sum + Buffer.byteLength(text), 0), count: Math.max(meant, asBytes) }
  }
}

async function eraseArchive(directory: string, sweep: Sweep, context: Context): Promise<void> {
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
