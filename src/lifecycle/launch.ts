import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { explainDiskError, makeDirectory, processStat, thisPlace, writeAtomic } from '../disk/index.js'
import { spoolCommand } from '../journal/index.js'
import { type Agent, type SessionId, SkeinError } from '../model/index.js'
import { isTmux, type PaneInfo, writeLaunchScript } from '../terminal/index.js'
import {
  capturedSession,
  type Launch,
  type Preparation,
  placeLinks,
  resumeCaptured,
  type ToolRunner,
} from '../tools/index.js'
import type { Launching, LiveRun, Recipe } from './agent-run.js'
import { nowOf, type Parts } from './parts.js'
import { PROMPT_FILE } from './pending-prompt.js'
import { withStart } from './run-life.js'

/** What of the user's environment is about the terminal or the shell it was typed in, and not about the user. */
const NOT_PASSED_ON =
  /^(TMUX|TMUX_PANE|TERM|TERM_PROGRAM|TERM_PROGRAM_VERSION|TERM_SESSION_ID|COLORTERM|COLUMNS|LINES|PWD|OLDPWD|SHLVL|_|IFS|PPID|OPTIND|LINENO|SKEIN_AGENT|SKEIN_SESSION|SKEIN_ACTOR|SKEIN_RUN|NODE_CHANNEL_FD)$/
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/
const SECRET_FILE = 'secret'
/** A first run asks a model for a word; it may take a while and prints little. */
const CAPTURE_MS = 120_000
const CAPTURE_BYTES = 4 * 1024 * 1024

/** A run that is ready to begin. */
export interface Readied {
  launching: Launching
  /** The file for `sh` that becomes the program. */
  script: string
  session?: SessionId
}

export interface NewRun {
  agent: Agent
  recipe: Recipe
  runner: ToolRunner
  how: Launching['how']
  session: SessionId | undefined
  origin?: SessionId
  tmuxSession: string
  /** Variables that the user gave for this agent. */
  env: Readonly<Record<string, string>>
}

/** Writes everything a run needs, readable by its user alone. Nothing is started. */
export async function ready(parts: Parts, run: NewRun): Promise<Readied> {
  const { agent, recipe, runner } = run
  const id = parts.context.random.uuid()
  const directory = join(parts.runs.directoryOf(agent.id), id)
  makeDirectory(directory)
  parts.spool.prepare()
  const port = await freePort()
  const startedAt = nowOf(parts)
  const secret = Buffer.from(parts.context.random.bytes(24)).toString('hex')
  writeFileSync(join(directory, SECRET_FILE), secret, { mode: 0o600 })
  const launch: Launch = {
    kind: run.how,
    ...(run.session ? { session: run.session } : {}),
    ...(run.origin ? { origin: run.origin } : {}),
    agent: agent.id,
    cwd: recipe.cwd,
    startedAt,
    ...(recipe.model ? { model: recipe.model } : {}),
    ...(recipe.mcp ? { mcp: recipe.mcp } : {}),
    ...(recipe.args ? { args: recipe.args } : {}),
    ...(recipe.dangerous ? { dangerous: true } : {}),
    directory,
    spool: {
      directory: parts.spool.directory,
      run: id,
      command: spoolCommand(parts.spool.directory, { agent: agent.id, run: id, tool: runner.name }),
    },
    environment: parts.environment,
    port,
    secret,
  }
  const preparation = runner.prepare(launch)
  writeFiles(preparation)
  const captured = await capturedFirst(parts, run, preparation, id)
  const session = captured?.session ?? preparation.session ?? run.session
  const script = join(directory, 'launch.sh')
  const env = { ...environmentOf(parts, run, preparation, { id, session }), ...captured?.env }
  writeLaunchScript({ path: script, argv: captured?.argv ?? preparation.argv, env })
  const launching = {
    id,
    socket: parts.socket,
    place: thisPlace(),
    tmux_session: run.tmuxSession,
    started_at: startedAt,
    port,
    how: run.how,
  }
  return { launching, script, ...(session ? { session } : {}) }
}

/** A run whose pane is there. A server in another pid namespace, reached by its socket, has pids that mean nothing here. */
export function begun(launching: Launching, { pane, pid, session, serverPid }: PaneInfo): LiveRun {
  const run = { ...launching, tmux_session: session, pane }
  const parent = processStat(pid)?.ppid
  if (!isTmux(serverPid) || (parent !== undefined && parent !== serverPid)) {
    return { ...run, pid, server: { pid: serverPid }, place: { ...thisPlace(), pid_namespace: 'another' } }
  }
  return { ...run, ...withStart(pid), server: withStart(serverPid) }
}

/** Files of runs that are over, which nobody will read again. */
export function clearOldRuns(parts: Parts, agent: Agent, keep: string): void {
  const directory = parts.runs.directoryOf(agent.id)
  for (const name of existsSync(directory) ? readdirSync(directory) : []) {
    if (name !== keep && name !== PROMPT_FILE && !name.startsWith('env'))
      rmSync(join(directory, name), { recursive: true, force: true })
  }
}

/** The secret of a run, for tools whose API asks for one. */
export function secretOf(parts: Parts, agent: Agent, run: LiveRun): string {
  return readFileSync(join(parts.runs.directoryOf(agent.id), run.id, SECRET_FILE), 'utf8')
}

/** The variables that the user gave with an agent; a recipe names them, this file has their values. */
export function saveGivenEnv(parts: Parts, agent: Agent, env: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(env)) {
    if (VARIABLE.test(name) && !NOT_PASSED_ON.test(name) && !value.includes('\0')) continue
    const next = 'Use letters, digits and "_", and a name that is not the terminal\'s or Skein\'s own'
    throw new SkeinError('bad-input', `${JSON.stringify(name.slice(0, 80))} cannot be given to an agent`, next)
  }
  const path = envFile(parts, agent)
  makeDirectory(dirname(path))
  writeAtomic(path, `${JSON.stringify(env)}\n`, { durable: true })
}

/** Comes back with all of them or not at all: an agent without its key would fail later and elsewhere. */
export function givenEnv(parts: Parts, agent: Agent, recipe: Recipe): Record<string, string> {
  const names = recipe.env_names ?? []
  if (names.length === 0) return {}
  const values = readEnv(envFile(parts, agent))
  const missing = names.filter((name) => !Object.hasOwn(values, name))
  if (missing.length === 0) return Object.fromEntries(names.map((name) => [name, values[name] ?? '']))
  const next = `Give them again: skein restart ${agent.address} ${missing.map((name) => `--env ${name}=…`).join(' ')}`
  throw new SkeinError(
    'bad-input',
    `${agent.address} was started with ${missing.join(', ')}, whose values are gone`,
    next,
  )
}

const envFile = (parts: Parts, agent: Agent): string => join(parts.runs.directoryOf(agent.id), 'env.json')

function readEnv(path: string): Record<string, string | undefined> {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'))
    const entries = typeof value === 'object' && value !== null ? Object.entries(value) : []
    return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'))
  } catch {
    return {}
  }
}

function writeFiles({ files, links = [] }: Preparation): void {
  placeLinks(links)
  for (const { path, content, onlyIfAbsent } of files) {
    if (onlyIfAbsent && existsSync(path)) continue
    try {
      makeDirectory(dirname(path))
      writeAtomic(path, content, { durable: false })
    } catch (error) {
      throw explainDiskError(error, path) // some belong where the tool keeps its own files, whatever is there
    }
  }
}

/** The user's own, then what the tool needs, then what the user gave this agent, then who it is. */
function environmentOf(
  parts: Parts,
  { agent, env }: NewRun,
  preparation: Preparation,
  { id, session }: { id: string; session: SessionId | undefined },
): Record<string, string> {
  const all: Record<string, string | undefined> = {}
  for (const [name, value] of Object.entries(parts.environment.env)) {
    if (VARIABLE.test(name) && !NOT_PASSED_ON.test(name)) all[name] = value
  }
  Object.assign(all, preparation.env, env, {
    SKEIN_AGENT: agent.address,
    SKEIN_ACTOR: agent.address,
    SKEIN_RUN: id,
    ...(session ? { SKEIN_SESSION: session } : {}),
  })
  return Object.fromEntries(
    Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
}

/** A first run, without a terminal, for programs that choose their own id and tell it only so. Without an answer it is left out. */
async function capturedFirst(
  parts: Parts,
  run: NewRun,
  preparation: Preparation,
  id: string,
): Promise<{ session: SessionId; argv: readonly [string, ...string[]]; env: Record<string, string> } | undefined> {
  const { capture } = preparation
  if (!capture) return undefined
  const [program, ...args] = capture.argv
  const env = environmentOf(parts, run, preparation, { id, session: undefined })
  const printed = await new Promise<string>((resolve) => {
    const options = { cwd: run.recipe.cwd, env, timeout: CAPTURE_MS, maxBuffer: CAPTURE_BYTES }
    execFile(program, args, options, (error, stdout) => resolve(error ? '' : stdout)).stdin?.end()
  })
  const session = capturedSession(capture, printed)
  if (!session) return undefined
  return { session, argv: resumeCaptured(capture, session), env: capture.env ? { [capture.env]: session } : {} }
}

/** A port that is free now. */
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}
