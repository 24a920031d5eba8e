import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { parseSessionId, type SessionId } from '../src/model/index.js'
import { LOG_TOOLS } from '../src/tools/index.js'
import type { ModelServer } from './model-server/model-server.js'
import { pathWith } from './programs.js'
import type { Scratch } from './scratch.js'
import { REAL_TOOLS } from './tools/index.js'

/** Each program as it is run without a terminal, with leave to run commands. */
const COMMANDS: Readonly<Record<string, { begin: Words; resume: Words }>> = {
  claude: {
    begin: (prompt, id) => ['claude', '-p', prompt, '--session-id', id, '--allowedTools', 'Bash'],
    resume: (prompt, id) => ['claude', '-p', prompt, '--resume', id, '--allowedTools', 'Bash'],
  },
  codex: {
    begin: (prompt) => ['codex', 'exec', '--dangerously-bypass-approvals-and-sandbox', prompt],
    resume: (prompt, id) => ['codex', 'exec', '--dangerously-bypass-approvals-and-sandbox', 'resume', id, prompt],
  },
  gemini: {
    begin: (prompt, id) => ['gemini', '-m', 'gemini-2.5-pro', '--yolo', '--session-id', id, '-p', prompt],
    resume: (prompt, id) => ['gemini', '-m', 'gemini-2.5-pro', '--yolo', '--resume', id, '-p', prompt],
  },
  opencode: {
    begin: (prompt) => ['opencode', 'run', '--auto', prompt],
    resume: (prompt, id) => ['opencode', 'run', '--auto', '--session', id, prompt],
  },
  pi: {
    begin: (prompt) => ['pi', '-p', prompt],
    resume: (prompt, id) => ['pi', '-p', '--session', id, prompt],
  },
}
/** How a program forks a conversation by itself. */
const FORKS: Readonly<Record<string, Words>> = {
  codex: (prompt, id) => ['codex', 'exec', '--dangerously-bypass-approvals-and-sandbox', 'fork', id, prompt],
}
type Words = (prompt: string, id: string) => [string, ...string[]]

/** The five programs in one user's home, without a terminal. */
export class PrintMode {
  readonly env: Record<string, string>

  constructor(
    private readonly scratch: Scratch,
    server: ModelServer,
  ) {
    const all = REAL_TOOLS.map((tool) => tool.setUp(scratch, server))
    const PATH = pathWith(...REAL_TOOLS.map(({ name }) => name))
    this.env = Object.assign({}, ...all, { PATH }) as Record<string, string>
    // Gemini CLI's clean-up takes a conversation that was resumed for a damaged one, and deletes it.
    const path = scratch.path('home', '.gemini', 'settings.json')
    const settings = JSON.parse(readFileSync(path, 'utf8')) as { general?: object }
    const general = { ...settings.general, sessionRetention: { enabled: false } }
    scratch.write('home/.gemini/settings.json', { ...settings, general })
  }

  get environment() {
    return { home: this.scratch.home, env: this.env }
  }

  /** Gives the first prompt of a new conversation, or of a fork that the program makes of one, and the id that it has. */
  async begin(tool: string, prompt: string, origin?: SessionId): Promise<SessionId> {
    const chosen = parseSessionId(randomUUID())
    const before = new Set(this.sessions(tool))
    const words = origin === undefined ? COMMANDS[tool]?.begin(prompt, chosen) : FORKS[tool]?.(prompt, origin)
    await this.#run(words, prompt)
    const [made, ...others] = this.sessions(tool).filter((id) => !before.has(id))
    if (!made || others.length > 0) throw new Error(`${tool} made ${made ?? 'nothing'} ${others.join(' ')}`)
    return made
  }

  async resume(tool: string, session: SessionId, prompt: string): Promise<string> {
    return this.#run(COMMANDS[tool]?.resume(prompt, session), prompt)
  }

  sessions(tool: string): SessionId[] {
    const reader = LOG_TOOLS.find(({ name }) => name === tool)
    const logs = reader?.discover(this.environment) ?? []
    return logs.flatMap((log) => log.session ?? reader?.identify(log).id ?? [])
  }

  #run([program, ...args]: readonly string[] = [], prompt: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const options = { env: this.env, cwd: this.scratch.project, timeout: 120_000 }
      const child = execFile(program ?? '', args, options, (error, stdout, stderr) => {
        if (error) reject(new Error(`${program} (${prompt}): ${error.message}\n${stdout}\n${stderr}`))
        else resolve(stdout)
      })
      child.stdin?.end()
    })
  }
}
