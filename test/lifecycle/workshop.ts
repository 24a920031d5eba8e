import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type Home, openHome } from '../../src/home/index.js'
import { type Agents, agentsOf, type Parts } from '../../src/lifecycle/index.js'
import { partsOf } from '../../src/lifecycle/open-agents.js'
import type { Context } from '../../src/model/index.js'
import type { Environment, ToolRunner } from '../../src/tools/index.js'
import { scratch } from '../home/scratch.js'
import { contextOf } from './context.js'
import { fakeTool } from './fake-tool.js'

/** A home with a tmux server of its own and the fake tool, gone with the test. */
export interface Workshop {
  root: string
  home: Home
  agents: Agents
  parts: Parts
  warnings: string[]
  socket: string
  project: string
  /** What the fake program wrote down. */
  log(): Record<string, unknown>[]
  tmux(...args: string[]): string
  /** Another process's view of the same home, as far as a process can be two. */
  again(): Promise<Workshop>
}

export async function workshop(
  options: {
    root?: string
    runners?: readonly ToolRunner[]
    env?: Record<string, string>
    clock?: Context['clock']
    accounts?: Environment['accounts']
    /** Tools whose logs its config.toml describes. */
    described?: readonly string[]
  } = {},
): Promise<Workshop> {
  const root = options.root ?? scratch()
  const socket = join(root, 'tmux.sock')
  const project = join(root, 'project')
  const file = join(root, 'fake.log')
  mkdirSync(project, { recursive: true })
  const warnings: string[] = []
  const context = { ...contextOf(warnings), ...(options.clock ? { clock: options.clock } : {}) }
  const env = { PATH: process.env.PATH ?? '', HOME: root, FAKE_LOG: file, ...options.env }
  const surroundings = { home: root, env, zone: 'UTC' }
  const home = await openHome({ root, configFile: join(root, 'config.toml'), surroundings, context })
  const runners = options.runners ?? [fakeTool(), fakeTool({ name: 'mute', tells: false })]
  const parts = partsOf({
    home,
    context,
    environment: {
      home: root,
      env,
      ...(options.described ? { described: options.described } : {}),
      ...(options.accounts ? { accounts: options.accounts } : {}),
    },
    socket: { path: socket },
    runners,
    defaultTool: 'fake',
  })
  const agents = agentsOf(parts)
  const tmux = (...args: string[]): string =>
    execFileSync('tmux', ['-S', socket, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  onTestFinished(async () => {
    try {
      tmux('kill-server')
    } catch {
      // It never ran, or a test has killed it.
    }
    await agents[Symbol.asyncDispose]()
    await home[Symbol.asyncDispose]()
  })
  const log = (): Record<string, unknown>[] =>
    existsSync(file)
      ? readFileSync(file, 'utf8')
          .split('\n')
          .filter((line) => line !== '')
          .map((line) => JSON.parse(line))
      : []
  return {
    root,
    home,
    agents,
    parts,
    warnings,
    socket,
    project,
    log,
    tmux,
    again: () => workshop({ ...options, root }),
  }
}

/** Waits for something to become true; fails the test with what it was when it does not. */
export async function eventually<T>(
  look: () => Promise<T> | T,
  isRight: (value: T) => boolean,
  ms = 60_000,
): Promise<T> {
  const until = Date.now() + ms
  for (;;) {
    const value = await look()
    if (isRight(value)) return value
    if (Date.now() > until) throw new Error(`it did not come true; last seen: ${JSON.stringify(value)}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
