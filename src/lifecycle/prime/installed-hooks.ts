import { createHash } from 'node:crypto'
import { chmodSync, existsSync, lstatSync, realpathSync, rmdirSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import {
  explainDiskError,
  FileLock,
  guardedText,
  makeDirectory,
  readGuarded,
  refuseDead,
  writeAtomic,
} from '../../disk/index.js'
import { readJson, SkeinError, shapes } from '../../model/index.js'
import {
  type Environment,
  HookSettings,
  INSTALLED_FILE,
  type InstalledSkein,
  installedLine,
  isInstalledHook,
  JsonFault,
  type ToolRunner,
} from '../../tools/index.js'

const MOST_BYTES = 4 * 1024 * 1024
const LOCK_MS = 10_000
const BACKUP = '.skein-backup'

/** What became of the hooks of one program. */
export interface HookReport {
  readonly tool: string
  readonly path: string
  readonly did: 'installed' | 'updated' | 'unchanged' | 'removed' | 'absent' | 'refused'
  /** Why nothing was done, or why what was done has no effect. */
  readonly because?: string
  /** What the file was before. */
  readonly backup?: string
}

export interface HookState {
  readonly tool: string
  readonly path: string
  /** `outdated`: they lead to another Skein than this one. `damaged`: the file cannot be read. */
  readonly state: 'installed' | 'outdated' | 'absent' | 'damaged'
  readonly because?: string
}

/** What was changed where, so that it can be taken back byte for byte. Hashes only: what users write is kept beside their own files. */
interface Change {
  readonly path: string
  /** Of what was there before; absent when nothing was. */
  readonly before?: string
  readonly after: string
  readonly made_directory?: boolean
}

type Installer = NonNullable<ToolRunner['install']>
type Settings = Extract<Installer, { kind: 'settings' }>

/**
 * Skein's hooks in the users' own settings, for programs that they start themselves. A file is edited in place; a file that cannot be
 * understood is refused and left as it is. Taken out again, a file that nobody has edited meanwhile is what it was, byte for byte; of
 * another one only our part goes.
 */
export class InstalledHooks {
  readonly #stateFile: string

  constructor(
    root: string,
    private readonly environment: Environment,
    private readonly skein: InstalledSkein,
  ) {
    makeDirectory(root)
    this.#stateFile = join(root, 'installed-hooks.json')
  }

  async install(runner: ToolRunner): Promise<HookReport> {
    makeDirectory(this.skein.spool)
    return this.#changed(runner, (install, place) =>
      install.kind === 'file'
        ? this.#putFile(runner.name, install, place)
        : this.#putEntries(runner.name, install, place),
    )
  }

  async uninstall(runner: ToolRunner): Promise<HookReport> {
    return this.#changed(runner, (install, place) =>
      install.kind === 'file' ? this.#takeFile(runner.name, place) : this.#takeEntries(runner.name, place),
    )
  }

  status(runner: ToolRunner): HookState {
    const install = installOf(runner)
    const path = install.path(this.environment)
    const facts = { tool: runner.name, path }
    try {
      const text = this.#read(placeOf(path))
      if (text === undefined) return { ...facts, state: 'absent' }
      if (install.kind === 'file') {
        if (!text.startsWith(INSTALLED_FILE)) return { ...facts, state: 'absent' }
        return { ...facts, state: text === install.content(this.skein) ? 'installed' : 'outdated' }
      }
      if (text.trim() === '') return { ...facts, state: 'absent' }
      const settings = new HookSettings(text)
      if (settings.eventsWith(isInstalledHook).length === 0) return { ...facts, state: 'absent' }
      const isCurrent = install.events.every((event) =>
        settings.commandsOf(event, isInstalledHook).includes(installedLine(event, runner.name, this.skein)),
      )
      return { ...facts, state: isCurrent ? 'installed' : 'outdated', ...ignored(install, text) }
    } catch (error) {
      return { ...facts, state: 'damaged', because: reasonOf(error) }
    }
  }

  async #changed(
    runner: ToolRunner,
    change: (install: Installer, place: string) => Omit<HookReport, 'tool' | 'path'>,
  ): Promise<HookReport> {
    const install = installOf(runner)
    const path = install.path(this.environment)
    using _held = await new FileLock(`${this.#stateFile}.lock`).hold(LOCK_MS)
    try {
      return { tool: runner.name, path, ...change(install, placeOf(path)) }
    } catch (error) {
      return { tool: runner.name, path, did: 'refused', because: reasonOf(error) }
    }
  }

  #putEntries(tool: string, install: Settings, place: string): Omit<HookReport, 'tool' | 'path'> {
    const text = this.#read(place)
    const base = this.#before(tool, place, text)
    let next = base === undefined || base.trim() === '' ? '{}\n' : base
    for (const event of install.events.toReversed()) {
      next = new HookSettings(next).with(event, install.entry(installedLine(event, tool, this.skein)))
    }
    if (next === text) return { did: 'unchanged', ...ignored(install, text) }
    const backup = base === undefined ? undefined : place + BACKUP
    if (backup !== undefined) this.#write(backup, base ?? '', modeOf(place))
    const made = !existsSync(dirname(place))
    this.#note(tool, {
      path: place,
      after: hash(next),
      ...(base === undefined ? {} : { before: hash(base) }),
      ...(made ? { made_directory: true } : {}),
    })
    this.#write(place, next, modeOf(place))
    const did = text !== undefined && isInstalled(text) ? 'updated' : 'installed'
    return { did, ...ignored(install, next), ...(backup === undefined ? {} : { backup }) }
  }

  #takeEntries(tool: string, place: string): Omit<HookReport, 'tool' | 'path'> {
    const text = this.#read(place)
    if (text === undefined || text.trim() === '' || !isInstalled(text)) return { did: 'absent' }
    const change = this.#changeOf(tool, place)
    const isUntouched = change?.after === hash(text)
    const base = this.#before(tool, place, text)
    // A file that we made, and that nobody else has put anything into.
    const isOurs =
      base === undefined || (change?.before === undefined && change !== undefined && new HookSettings(base).isEmpty)
    if (isOurs) this.#remove(place, change)
    else this.#write(place, base, modeOf(place))
    this.#note(tool, undefined)
    const backup = place + BACKUP
    if (isUntouched || isOurs) rmSync(backup, { force: true })
    return { did: 'removed', ...(existsSync(backup) ? { backup } : {}) }
  }

  #putFile(
    tool: string,
    install: Extract<Installer, { kind: 'file' }>,
    place: string,
  ): Omit<HookReport, 'tool' | 'path'> {
    const text = this.#read(place)
    if (text !== undefined && !text.startsWith(INSTALLED_FILE)) throw refused('is not a file of Skein')
    const content = install.content(this.skein)
    if (text === content) return { did: 'unchanged' }
    const backup = this.#keptEdit(tool, place, text)
    const made = this.#changeOf(tool, place)?.made_directory ?? !existsSync(dirname(place))
    this.#note(tool, { path: place, after: hash(content), ...(made ? { made_directory: true } : {}) })
    this.#write(place, content, undefined)
    return { did: text === undefined ? 'installed' : 'updated', ...backup }
  }

  #takeFile(tool: string, place: string): Omit<HookReport, 'tool' | 'path'> {
    const text = this.#read(place)
    if (text === undefined || !text.startsWith(INSTALLED_FILE)) return { did: 'absent' }
    const backup = this.#keptEdit(tool, place, text)
    this.#remove(place, this.#changeOf(tool, place))
    this.#note(tool, undefined)
    return { did: 'removed', ...backup }
  }

  /** A file of ours that its user has changed is kept beside it. */
  #keptEdit(tool: string, place: string, text: string | undefined): { backup?: string } {
    if (text === undefined || this.#changeOf(tool, place)?.after === hash(text)) return {}
    this.#write(place + BACKUP, text, undefined)
    return { backup: place + BACKUP }
  }

  /** The text as it would be without us: as it was, if nobody has changed it since; else without our entries. */
  #before(tool: string, place: string, text: string | undefined): string | undefined {
    if (text === undefined) return undefined
    const change = this.#changeOf(tool, place)
    if (change?.after === hash(text)) {
      if (change.before === undefined) return undefined
      const kept = this.#read(place + BACKUP)
      if (kept !== undefined && hash(kept) === change.before) return kept
    }
    if (text.trim() === '') return text
    let without = text
    for (let next: string | undefined = without; next !== undefined; ) {
      without = next
      next = new HookSettings(without).without(isInstalledHook)
    }
    return without
  }

  #read(place: string): string | undefined {
    if (!existsSync(place)) return undefined
    const bytes = readGuarded(place, { mostBytes: MOST_BYTES })
    const text = bytes.toString('utf8')
    if (!Buffer.from(text).equals(bytes)) throw refused('is not UTF-8')
    return text
  }

  #write(place: string, text: string, mode: number | undefined): void {
    try {
      makeDirectory(dirname(place))
      writeAtomic(place, text, { durable: true })
      if (mode !== undefined) chmodSync(place, mode)
    } catch (error) {
      throw explainDiskError(error, place)
    }
  }

  #remove(place: string, change: Change | undefined): void {
    rmSync(place, { force: true })
    if (!change?.made_directory) return
    try {
      rmdirSync(dirname(place))
    } catch {
      // Something else is in it by now.
    }
  }

  #changeOf(tool: string, place: string): Change | undefined {
    const change = this.#changes()[tool]
    return change?.path === place ? change : undefined
  }

  #note(tool: string, change: Change | undefined): void {
    const { [tool]: _before, ...others } = this.#changes()
    const changes = change ? { ...others, [tool]: change } : others
    if (Object.keys(changes).length === 0) rmSync(this.#stateFile, { force: true })
    else writeAtomic(this.#stateFile, `${JSON.stringify({ v: 1, changes }, undefined, 1)}\n`, { durable: true })
  }

  /** A damaged file is as good as none: then our entries are taken out of the text as it is. */
  #changes(): Readonly<Record<string, Change>> {
    const value = readJson(guardedText(this.#stateFile, MOST_BYTES) ?? '')
    if (!shapes.isObject(value) || !shapes.isObject(value.changes)) return {}
    return Object.fromEntries(Object.entries(value.changes).filter(([, one]) => isChange(one))) as Record<
      string,
      Change
    >
  }
}

/** Of a file that its program will not read: no hook in it runs, ours or anybody's. */
function ignored({ isStrict }: Settings, text: string): { because?: string } {
  if (!isStrict || readJson(text.replace(/^\ufeff/, '')) !== undefined) return {}
  return { because: 'has comments or a comma too many: its program ignores the whole file, so no hook in it runs' }
}

const isChange = shapes.shaped(
  shapes.shape({ path: shapes.path, after: shapes.text, 'before?': shapes.text, 'made_directory?': shapes.flag }),
)

function installOf({ name, install }: ToolRunner): Installer {
  if (install) return install
  throw new SkeinError('tool-unknown', `${name} has no hooks that can be installed`, 'Name another tool')
}

/** Where the file really is: a link of a dotfile manager stays a link. */
function placeOf(path: string): string {
  refuseDead(path)
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (!stat?.isSymbolicLink()) return path
  if (!existsSync(path)) throw refused('is a link to a missing file')
  return realpathSync(path)
}

const modeOf = (path: string): number | undefined => {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat && stat.mode & 0o777
}

const isInstalled = (text: string): boolean =>
  text.trim() !== '' && new HookSettings(text).eventsWith(isInstalledHook).length > 0

const hash = (text: string): string => createHash('sha256').update(text).digest('hex')

const refused = (because: string): SkeinError =>
  new SkeinError('bad-config', because, 'Correct the file, then try again')

function reasonOf(error: unknown): string {
  if (error instanceof JsonFault) return `is not valid JSON (${error.message})`
  if (error instanceof SkeinError) return error.message
  const { code, message } = error as NodeJS.ErrnoException
  if (code === undefined) throw error
  return message
}
