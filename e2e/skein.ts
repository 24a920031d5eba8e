import { execFile } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { isObject, type JsonObject } from '../src/tools/json-value.js'
import type { Scratch } from './scratch.js'

const PROGRAM = fileURLToPath(new URL('../bin/skein.js', import.meta.url))

/** The command line of Skein as a user has it: the built program, in the user's environment, with a home of its own. */
export class Skein {
  readonly #env: Record<string, string>
  readonly #cwd: string

  constructor(
    scratch: Scratch,
    userEnv: Record<string, string>,
    private readonly program = PROGRAM,
    cwd = scratch.project,
    home = scratch.path('skein'),
  ) {
    this.#cwd = cwd
    // tmux keeps its sockets by name in this directory, so `tmux -L skein` is another server in each scratch.
    this.#env = { ...userEnv, SKEIN_HOME: home, TMUX_TMPDIR: scratch.path('tmp') }
  }

  /** What the command prints with `--json`; throws with what it said when it fails. */
  async run(...args: string[]): Promise<JsonObject> {
    const stdout = await this.#printed(args)
    const printed: unknown = JSON.parse(stdout)
    if (!isObject(printed)) throw new Error(`skein ${args.join(' ')} printed ${stdout}`)
    return printed
  }

  /** The newest events of a type, oldest first. */
  async events(type: string): Promise<JsonObject[]> {
    const stdout = await this.#printed(['events', 'tail', '-n', '1000', '--type', type])
    return stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line))
  }

  async #printed(args: readonly string[]): Promise<string> {
    const options = { env: this.#env, cwd: this.#cwd, timeout: 120_000, maxBuffer: 1 << 26 }
    const running = promisify(execFile)(process.execPath, [this.program, ...args, '--json'], options)
    const { stdout } = await running.catch(async (error: Error & { stdout?: string; killed?: boolean }) => {
      error.message += ` ${error.stdout ?? ''}${error.killed ? await this.#surroundings() : ''}`
      throw error
    })
    return stdout
  }

  /** Of a command that did not end in time: what the daemon and the processes beside it do. */
  async #surroundings(): Promise<string> {
    const options = { env: this.#env, cwd: this.#cwd, timeout: 20_000 }
    const shown = [
      [process.execPath, this.program, 'daemon', 'status', '--json'],
      [process.execPath, this.program, 'list'],
      [process.execPath, this.program, 'daemon', 'logs'],
      ['ps', 'axfo', 'pid,stat,etime,time,wchan:20,args'],
    ].map(([program = '', ...args]) =>
      promisify(execFile)(program, args, options).then(({ stdout }) => stdout.replace(/^(.{200}).*$/gm, '$1'), String),
    )
    return `It was ended after its time.\n${(await Promise.all(shown)).join('\n')}`
  }

  /** What a command prints with `--json` that ends with 1. */
  async failing(...args: string[]): Promise<JsonObject> {
    try {
      await this.run(...args)
    } catch (error) {
      const { code, stdout = '', stderr = '' } = error as { code?: number; stdout?: string; stderr?: string }
      const printed: unknown = stdout.trim() === '' ? { error: stderr } : JSON.parse(stdout)
      if (code === 1 && isObject(printed)) return printed
      throw error
    }
    throw new Error(`skein ${args.join(' ')} ended with 0`)
  }

  /** Types into the agent's terminal by hand, key by key (what comes at once is taken for a paste), and presses Enter. */
  async types(agent: string, text: string): Promise<void> {
    for (const key of text) await this.run('keys', agent, key === ' ' ? 'Space' : key)
    const hasArrived = async (): Promise<boolean> =>
      String((await this.run('output', agent, '--screen')).text).includes(text)
    await until(`${text} is in its input line`, hasArrived)
    await this.run('keys', agent, 'Enter')
  }

  /** Looks at the list until it shows this of the agent. */
  async listed(address: string, wanted: JsonObject, timeoutMs = 30_000): Promise<JsonObject> {
    let agent: JsonObject = {}
    const isShown = async (): Promise<boolean> => {
      agent = await this.agent(address)
      return Object.entries(wanted).every(([key, value]) => agent[key] === value)
    }
    const explained = async (): Promise<string> => `It shows ${JSON.stringify(agent)}; ${await this.explained(address)}`
    await until(`skein list shows ${JSON.stringify(wanted)}`, isShown, timeoutMs, explained)
    return agent
  }

  /** What Skein knows of the agent, and its screen, for a test that fails. */
  async explained(address: string): Promise<string> {
    const why = JSON.stringify(await this.run('why', address), null, 1)
    const { text } = await this.run('output', address, '--screen')
    return `${why}; the screen is\n${String(text).replace(/\n\s*\n+/g, '\n')}`
  }

  /** The agent as `skein list` shows it. */
  async agent(address: string): Promise<JsonObject> {
    const found = agentIn(await this.run('list'), address)
    if (!found) throw new Error(`skein list does not show ${address}`)
    return found
  }
}

/** Looks until it is so. */
export async function until(
  what: string,
  isSo: () => Promise<boolean> | boolean,
  timeoutMs = 30_000,
  explained: () => Promise<string> | string = () => '',
): Promise<void> {
  for (const end = performance.now() + timeoutMs; !(await isSo()); await sleep(150)) {
    if (performance.now() > end) throw new Error(`Not so within ${timeoutMs} ms: ${what}. ${await explained()}`)
  }
}

function agentIn(value: unknown, address: string): JsonObject | undefined {
  if (Array.isArray(value)) return value.map((one) => agentIn(one, address)).find((one) => one !== undefined)
  if (!isObject(value)) return undefined
  if (value.address === address && 'status' in value) return value
  return agentIn(Object.values(value), address)
}
