import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { FileLock, inDirectory, makeDirectory, namesIn, temporaryName, textIn, writeAtomic } from '../disk/index.js'
import { isNewer, readJson, shapes } from '../model/index.js'
import type { Git } from './git.js'
import { LooseObjects } from './loose-object.js'
import type { Repository } from './repository.js'
import { keyOf, refOf } from './snapshot.js'
import { stateDirectory } from './worktree-state.js'

/** Whose files a store keeps: a repository with all its worktrees, or a directory without git. */
export interface StoreSource {
  root: string
  repository: Repository | undefined
}

interface StoreFacts {
  v: 1
  source: string
  format: 'sha1' | 'sha256'
}

/** A bare git repository of ours, outside the user's, which borrows the user's objects. */
export class BareStore {
  readonly objects: LooseObjects

  private constructor(
    readonly directory: string,
    readonly name: string,
    readonly facts: StoreFacts,
    private readonly git: Git,
  ) {
    this.objects = new LooseObjects(directory, facts.format)
  }

  /** Opens the store of a source, and makes it when there is none. */
  static open(snapshots: string, { root, repository }: StoreSource, git: Git): BareStore {
    const source = repository?.commonDirectory ?? root
    const name = keyOf(source)
    const directory = join(snapshots, `${name}.git`)
    const facts: StoreFacts = { v: 1, source, format: repository?.objectFormat ?? 'sha1' }
    if (!existsSync(directory)) create(directory, facts, repository)
    const known = factsIn(directory)
    if (!known && !isOfLater(directory))
      writeAtomic(factsFile(directory), `${JSON.stringify(facts)}\n`, { durable: false })
    return new BareStore(directory, name, known ?? facts, git)
  }

  /** The stores of a directory, by name. */
  static all(snapshots: string, git: Git): BareStore[] {
    return namesIn(snapshots)
      .filter((name) => name.endsWith('.git'))
      .flatMap((name) => BareStore.named(snapshots, name.slice(0, -4), git) ?? [])
  }

  static named(snapshots: string, name: string, git: Git): BareStore | undefined {
    const directory = join(snapshots, `${name}.git`)
    const facts = factsIn(directory)
    return facts && new BareStore(directory, name, facts, git)
  }

  get hashBytes(): 20 | 32 {
    return this.objects.hashBytes
  }

  /** One at a time: captures, restores in place and upkeep. The system releases it with its process. */
  async hold(waitMs: number): Promise<Disposable> {
    return new FileLock(join(this.directory, 'skein', 'lock')).hold(waitMs)
  }

  /** Arguments of a git command on this store, with the user's files as its worktree. */
  at(root?: string): string[] {
    return ['--git-dir', this.directory, ...(root === undefined ? [] : ['--work-tree', root])]
  }

  /** Whether there are refs below a name, without starting git. */
  hasRefs(name: string): boolean {
    return (
      namesIn(join(this.directory, name)).length > 0 ||
      (textIn(join(this.directory, 'packed-refs')) ?? '').includes(` ${name}/`)
    )
  }

  async commits(pattern: string): Promise<{ commit: string; ref: string }[]> {
    const lines = await this.git.text([...this.at(), 'for-each-ref', '--format=%(objectname) %(refname)', pattern])
    return lines.split('\n').flatMap((line) => {
      const [commit = '', ref = ''] = line.split(' ')
      return ref === '' ? [] : [{ commit, ref }]
    })
  }

  /** The next free number of a session. */
  nextSeq(session: string, kind: 'turns' | 'inner'): number {
    const loose = namesIn(join(this.directory, refOf(session, '', kind))).map(Number)
    const prefix = ` ${refOf(session, '', kind)}`
    const packed = textIn(join(this.directory, 'packed-refs')) ?? ''
    let highest = Math.max(0, ...loose.filter(Number.isInteger))
    for (let at = packed.indexOf(prefix); at >= 0; at = packed.indexOf(prefix, at + 1))
      highest = Math.max(highest, Number.parseInt(packed.slice(at + prefix.length, at + prefix.length + 16), 10) || 0)
    return highest + 1
  }

  setRef(ref: string, commit: string): void {
    const path = join(this.directory, ref)
    if (textIn(path)?.trim() === commit) return
    // Not beside it: what a killed process leaves among the refs, git takes for a ref.
    const temporary = temporaryName(join(stateDirectory(this.directory), 'ref'))
    inDirectory(temporary, () => writeFileSync(temporary, `${commit}\n`, { mode: 0o600, flag: 'wx' }))
    try {
      inDirectory(path, () => renameSync(temporary, path))
    } catch (error) {
      rmSync(temporary, { force: true })
      throw error
    }
  }
}

const factsFile = (directory: string): string => join(directory, 'skein', 'store.json')
const FACTS = shapes.shape({
  v: (value) => value === 1,
  source: shapes.path,
  format: (value) => value === 'sha1' || value === 'sha256',
})

/** Undefined for a damaged file: whoever opens the store for its source writes it again. */
function factsIn(directory: string): StoreFacts | undefined {
  const value = readJson(textIn(factsFile(directory)) ?? '')
  const isWhole = shapes.isObject(value) && shapes.misfit(value, FACTS) === undefined
  return isWhole ? (value as unknown as StoreFacts) : undefined
}

function isOfLater(directory: string): boolean {
  const value = readJson(textIn(factsFile(directory)) ?? '')
  return shapes.isObject(value) && isNewer(value.v, 1)
}

/** Made beside its place and moved there: a killed process leaves no half store. */
function create(directory: string, facts: StoreFacts, repository: Repository | undefined): void {
  const temporary = temporaryName(directory)
  makeDirectory(join(directory, '..'))
  for (const name of ['', 'refs', 'objects', 'objects/info', 'objects/pack', 'info', 'skein', 'skein/worktrees'])
    mkdirSync(join(temporary, name), { mode: 0o700 })
  const write = (name: string, text: string): void => writeFileSync(join(temporary, name), text, { mode: 0o600 })
  write('HEAD', 'ref: refs/heads/none\n')
  write('config', configFor(facts.format))
  write('info/attributes', '* -text -eol -filter -ident -working-tree-encoding !diff !merge\n')
  write('skein/store.json', `${JSON.stringify(facts)}\n`)
  if (repository) write('objects/info/alternates', `${alternateOf(join(repository.commonDirectory, 'objects'))}\n`)
  try {
    renameSync(temporary, directory)
  } catch (error) {
    rmSync(temporary, { recursive: true, force: true })
    if (!existsSync(directory)) throw error // else another process was quicker
  }
}

/** One line per directory: git reads a line that begins with a quotation mark as a string of C. */
export const alternateOf = (path: string): string =>
  /^["#]|\n/.test(path) ? `"${path.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"` : path

/** Raw bytes, nothing that runs, nothing that packs or removes objects by itself. */
export const configFor = (format: string): string => `[core]
	repositoryformatversion = ${format === 'sha256' ? 1 : 0}
	bare = true
	filemode = true
	symlinks = true
	autocrlf = false
	safecrlf = false
	fsmonitor = false
	untrackedCache = false
	splitIndex = false
	sparseCheckout = false
	trustctime = true
	hooksPath = /dev/null
	logAllRefUpdates = false
	sharedRepository = 0600
[index]
	skipHash = true
[gc]
	auto = 0
[maintenance]
	auto = false
[checkout]
	workers = 0
[diff]
	renames = true
${format === 'sha256' ? '[extensions]\n\tobjectformat = sha256\n' : ''}`
