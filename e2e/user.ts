import type { JsonObject } from '../src/tools/json-value.js'
import { objectAt } from '../src/tools/json-value.js'
import { ModelServer } from './model-server/model-server.js'
import type { Script } from './model-server/script.js'
import { Scratch } from './scratch.js'
import { Skein } from './skein.js'
import type { RealTool } from './tools/real-tool.js'

/** Says the same to everything. */
const AGREEABLE: Script = { rules: [{ when: /.*/, steps: [{ text: 'Gladly.' }] }] }

/** A user of these programs and of Skein, in a scratch of their own, whose provider is a model server of ours. */
export class User implements AsyncDisposable {
  private constructor(
    readonly scratch: Scratch,
    readonly server: ModelServer,
    /** What the programs are started with by hand. */
    readonly env: Record<string, string>,
    readonly skein: Skein,
  ) {}

  static async of(
    tools: readonly RealTool[],
    { script = AGREEABLE, settings }: { script?: Script; settings?: (scratch: Scratch) => readonly string[] } = {},
  ): Promise<User> {
    const server = await ModelServer.start(script)
    const scratch = new Scratch(tools.map(({ name }) => name).join('-'))
    const each = tools.map((tool) => tool.setUp(scratch, server))
    const PATH = each.map((env) => env.PATH).join(':')
    const env = Object.assign({}, ...each, { PATH })
    if (settings) scratch.write('skein/config.toml', `${settings(scratch).join('\n')}\n`)
    return new User(scratch, server, env, new Skein(scratch, env))
  }

  /** An agent that is idle, has answered one prompt, and its session. */
  async agentAtWork(
    address: string,
    tool: RealTool,
    { prompt = 'hello', options = [] }: { prompt?: string; options?: readonly string[] } = {},
  ): Promise<string> {
    const started = await this.skein.run('start', '.', '--agent', address, '--tool', tool.name, ...options)
    await this.skein.listed(address, { status: 'idle' }, 60_000)
    await this.skein.run('send', address, prompt, '--wait', '--timeout', '110s')
    return String(objectAt(started, 'agent')?.session_id)
  }

  /** The sessions of the chain that this one is in. */
  async chainOf(session: string): Promise<JsonObject[]> {
    const { chains } = await this.skein.run('sessions', 'chain', session)
    const [chain] = chains as { sessions: JsonObject[] }[]
    return chain?.sessions ?? []
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.scratch[Symbol.dispose]()
    await this.server[Symbol.asyncDispose]()
  }
}
