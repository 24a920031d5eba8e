import { dirname, join } from 'node:path'
import { isThere, runBounded } from '../../disk/index.js'
import { plainLine, SkeinError } from '../../model/index.js'

/** A call takes a third of a second, and one that waits for seven others three. */
const LIMIT_MS = 20_000
const MOST_OUTPUT = 64 * 1024 * 1024
/** `bd update` with a precondition that no longer holds. Nothing was written. */
const STALE_GUARD = 13
/** Of what led to the caller: another store, another name, a session that is not the one that is meant. */
const NOT_PASSED_ON = /^(BEADS_DB|BD_DB|BEADS_ACTOR|CLAUDE_SESSION_ID|BD_LAST_TOUCHED_FALLBACK)$/

/** The `bd` program and the store that it works on, as config.toml names them. */
export interface BeadsStore {
  program: string
  directory: string
  /** config.toml */
  file: string
}

export interface BdCall {
  /** What it reads on its standard input. */
  input?: string
  limitMs?: number
}

/**
 * The `bd` program on one store. Words of users go to it by standard input or behind the name of their option (`--title=…`), where they
 * cannot become an option; there is no shell. Whatever is wrong with it is one `work-provider` error.
 */
export class Bd {
  constructor(
    readonly store: BeadsStore,
    private readonly env: Readonly<Record<string, string | undefined>>,
    private readonly actor: () => string,
  ) {}

  /** What it answers, as JSON. */
  async json(args: readonly string[], call?: BdCall): Promise<unknown> {
    const answer = await this.guarded(args, call)
    if (answer !== STALE) return answer
    throw this.#failed(args, 'it refused the change')
  }

  /** The same for a change that has a precondition. */
  async guarded(args: readonly string[], { input = '', limitMs = LIMIT_MS }: BdCall = {}): Promise<unknown> {
    this.#refuseMissingStore()
    const { program } = this.store
    const call = { cwd: '/', env: this.#environment(), input, limitMs, mostBytes: MOST_OUTPUT }
    const end = await runBounded(program, [...args.slice(0, 1), '--json', ...args.slice(1)], call)
    switch (end.how) {
      case 'not-started':
        throw this.#cannotStart(end)
      case 'late':
      case 'stopped':
        throw this.#failed(args, `no answer within ${limitMs / 1000} s`)
      case 'too-much':
        throw this.#failed(args, `it printed more than ${MOST_OUTPUT / 1024 / 1024} MB`)
    }
    if (end.code === STALE_GUARD) return STALE
    if (end.code !== 0) throw this.#failed(args, problemIn(end.stdout, end.stderr) ?? `exit status ${end.code}`)
    try {
      return JSON.parse(end.stdout) as unknown
    } catch {
      throw this.#failed(args, `its answer is not JSON: ${JSON.stringify(plainLine(end.stdout, 60))}`)
    }
  }

  /** From a directory without a store of its own: where BEADS_DIR has none, `bd` would work on one that it finds above. */
  #environment(): Record<string, string | undefined> {
    const passed = Object.entries(this.env).filter(([name]) => !NOT_PASSED_ON.test(name))
    const actor = this.actor()
    return {
      ...Object.fromEntries(passed),
      ...{ BEADS_DIR: this.store.directory, BD_ACTOR: actor, BEADS_ACTOR: actor },
      ...{ BD_DISABLE_METRICS: '1', DO_NOT_TRACK: '1', NO_COLOR: '1' },
    }
  }

  #refuseMissingStore(): void {
    const { directory, file } = this.store
    if (['metadata.json', 'redirect', 'config.yaml'].some((name) => isThere(join(directory, name)))) return
    const next = `Make one: cd ${dirname(directory)} && bd init . Or set work.beads_dir in ${file}`
    throw new SkeinError('work-provider', `There is no beads store in ${directory}`, next)
  }

  #cannotStart({ code, problem }: { code: string; problem: string }): SkeinError {
    const { program, file } = this.store
    const why = code === 'ENOENT' ? 'it is not installed' : code === 'EACCES' ? 'it is not executable' : problem
    const next = `Install beads, or set work.beads_program in ${file}. To keep work in Skein: provider = "built-in"`
    return new SkeinError('work-provider', `Cannot run ${program}, which keeps the work: ${why}`, next)
  }

  #failed([command = '']: readonly string[], why: string): SkeinError {
    const { program, directory } = this.store
    return new SkeinError(
      'work-provider',
      `${program} ${command} failed: ${why}`,
      `Try: BEADS_DIR=${directory} ${program} ping`,
    )
  }
}

/** The precondition of a change no longer holds. */
export const STALE = Symbol('stale')

/** What it says is wrong: JSON on either stream, or the last line that says `Error`. */
function problemIn(stdout: string, stderr: string): string | undefined {
  for (const text of [stdout, stderr.split('\n').findLast((line) => line.startsWith('{')) ?? '']) {
    try {
      const { error, failed } = JSON.parse(text) as { error?: unknown; failed?: readonly { error?: unknown }[] }
      const said = failed?.[0]?.error ?? error
      if (typeof said === 'string') return plainLine(said, 300)
    } catch {
      // not JSON
    }
  }
  const lines = stderr.split('\n').filter((line) => line.trim() !== '')
  const said = lines.find((line) => /^(error|fatal|panic)/i.test(line)) ?? lines.at(-1)
  return said === undefined ? undefined : plainLine(said.replace(/^error:? ?/i, ''), 300)
}
