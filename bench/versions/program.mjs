// One built checkout of Skein, run in a home at a fixed path, at a fixed time.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const FIXED_WORLD = fileURLToPath(new URL('fixed-world.cjs', import.meta.url))
/** The day after the newest log of the corpus and of the fixtures. */
export const NOW = Date.parse('2026-11-16T12:00:00Z')

export class Program {
  /** @param {string} checkout a built checkout @param {string} home the path that HOME has while it runs @param {string} path PATH */
  constructor(checkout, home, path) {
    this.checkout = checkout
    this.home = home
    this.path = path
  }

  /** The arguments with which Node runs it. */
  argv(args) {
    return [join(this.checkout, 'bin', 'skein.js'), ...args]
  }

  /** The clock and the random values of the machine. */
  get env() {
    return {
      PATH: this.path,
      LANG: 'C.UTF-8',
      TZ: 'UTC',
      HOME: this.home,
      SKEIN_HOME: join(this.home, 'skein'),
      SKEIN_ACTOR: 'ada',
    }
  }

  run(args, { at = NOW, seed = 1, runs = false, input = '' } = {}) {
    const { status, signal, stdout, stderr } = spawnSync(process.execPath, this.argv(args), {
      cwd: join(this.home, 'project'),
      env: {
        ...this.env,
        NODE_OPTIONS: `--require=${FIXED_WORLD}`,
        FIXED_TIME: String(at),
        FIXED_SEED: String(seed),
        ...(runs ? { FIXED_TIME_RUNS: '1' } : {}),
      },
      encoding: 'utf8',
      input,
      timeout: 60_000,
      maxBuffer: 2 ** 28,
    })
    return { exit: status ?? signal, stdout, stderr }
  }

  /** For what must work. Returns what it printed. */
  mustRun(args, options) {
    const { exit, stdout, stderr } = this.run(args, options)
    if (exit !== 0) throw new Error(`skein ${args.join(' ')} ended with ${exit}: ${stderr}${stdout}`)
    return stdout.trim()
  }
}
