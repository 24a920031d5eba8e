import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { isObject, type JsonObject } from '../src/tools/json-value.js'
import type { Scratch } from './scratch.js'

const PROGRAM = fileURLToPath(new URL('../bin/skein.js', import.meta.url))

/** The command line of Skein as a user has it: the built program, in the user's environment, with a home of its own. */
export class Skein {
  readonly #env: Record<string, string>
  readonly #cwd: string

  constructor(scratch: Scratch, userEnv: Record<string, string>) {
    this.#cwd = scratch.project
    // tmux keeps its sockets by name in this directory, so `tmux -L skein` is another server in each scratch.
    this.#env = { ...userEnv, SKEIN_HOME: scratch.path('skein'), TMUX_TMPDIR: scratch.path('tmp') }
  }

  /** What the command prints with `--json`; throws with what it said when it fails. */
  async run(...args: string[]): Promise<JsonObject> {
    const options = { env: this.#env, cwd: this.#cwd, timeout: 120_000, maxBuffer: 1 << 26 }
    const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, ...args, '--json'], options)
    const printed: unknown = JSON.parse(stdout)
    if (!isObject(printed)) throw new Error(`skein ${args.join(' ')} printed ${stdout}`)
    return printed
  }

  /** The agent as `skein list` shows it. */
  async agent(address: string): Promise<JsonObject> {
    const found = agentIn(await this.run('list'), address)
    if (!found) throw new Error(`skein list does not show ${address}`)
    return found
  }
}

function agentIn(value: unknown, address: string): JsonObject | undefined {
  if (Array.isArray(value)) return value.map((one) => agentIn(one, address)).find((one) => one !== undefined)
  if (!isObject(value)) return undefined
  if (value.address === address && 'status' in value) return value
  return agentIn(Object.values(value), address)
}
