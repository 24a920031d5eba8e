import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { dirname, join, resolve } from 'node:path'
import { explainDiskError, makeDirectory, processStat, thisPlace, writeAtomic } from '../../disk/index.js'
import { spoolCommand } from '../../journal/index.js'
import { type Agent, type Roles, type SessionId, SkeinError } from '../../model/index.js'
import { isTmux, type PaneInfo, writeAgainScript, writeLaunchScript } from '../../terminal/index.js'
import {
  capturedSession,
  commandWords,
  type Launch,
  type Preparation,
  placeLinks,
  programPath,
  resumeCaptured,
  type ToolRunner,
} from '../../tools/index.js'
import type { Launching, LiveRun, Recipe } from '../agent-run.js'
import { AGAIN_FILE, ASKER_FILE, BRANCH_FILE, CHECKPOINT_FILE, PROMPT_FILE, SCRATCH_DIRECTORY } from '../agent-runs.js'
import { nowOf, type Parts } from '../parts.js'
import { hookAnswer, hookFiles } from '../prime/hook-run.js'
import { environmentFor } from './account.js'
import { launchEnvironment } from './launch-environment.js'
import { launchScriptOf } from './launch-leftovers.js'
import { withStart } from './run-life.js'

const SECRET_FILE = 'secret'
/** Beside what begins with `env`, these outlive a run. */
const OF_THE_AGENT: readonly string[] = [
  PROMPT_FILE,
  CHECKPOINT_FILE,
  BRANCH_FILE,
  ASKER_FILE,
  AGAIN_FILE,
  SCRATCH_DIRECTORY,
]
/** A first run asks a model for a word; it may take a while and prints little. */
const CAPTURE_MS = 120_000
const CAPTURE_BYTES = 4 * 1024 * 1024

export interface NewRun {
  agent: Pick<Agent, 'id' | 'address' | 'command' | 'role'>
  recipe: Recipe
  runner: ToolRunner
  how: Launching['how']
  session: SessionId | undefined
  /** What its session is called where the program neither takes nor tells an id. */
  made?: SessionId
  origin?: SessionId
  isAside?: boolean
  tmuxSession: string
  /** Variables that the user gave for this agent. */
  env: Readonly<Record<string, string>>
  roles: Roles
}

/** A run of which everything is known and nothing is written. */
export interface PreparedRun extends NewRun {
  launch: Launch
  preparation: Preparation
}

/** A run that is ready to begin. */
export interface ReadyRun {
  launching: Launching
  /** The file for `sh` that becomes the program. */
  script: string
  session?: SessionId
  /** What a key in its pane runs once it has ended. */
  again?: string
  /** Removes what was written for it, when it does not begin after all. */
  discard(): void
}

/** Decides how the program is run, and refuses when it is not installed. Changes nothing. */
export async function prepareRun(parts: Parts, run: NewRun): Promise<PreparedRun> {
  const { agent, recipe, runner } = run
  const id = parts.context.random.uuid()
  const directory = join(parts.runs.directoryOf(agent.id), id)
  const launch: Launch = {
    kind: run.how,
    ...(run.session ? { session: run.session } : {}),
    ...(run.origin ? { origin: run.origin } : {}),
    ...(run.isAside ? { isAside: true } : {}),
    agent: agent.id,
    cwd: recipe.cwd,
    startedAt: nowOf(parts),
    ...(agent.command ? { command: commandWords(agent.command) } : {}),
    ...(recipe.model ? { model: recipe.model } : {}),
    ...(recipe.mcp ? { mcp: recipe.mcp } : {}),
    ...(recipe.args ? { args: recipe.args } : {}),
    ...(recipe.dangerous ? { dangerous: true } : {}),
    directory,
    spool: {
      directory: parts.spool.directory,
      run: id,
      command: spoolCommand(parts.spool.directory, { agent: agent.id, run: id, tool: runner.name }),
      ...(parts.answering ? { answer: hookAnswer(directory, parts.answering) } : {}),
    },
    environment: environmentFor(parts, recipe),
    port: runner.answer ? await freePort() : 0,
    secret: Buffer.from(parts.context.random.bytes(24)).toString('hex'),
  }
  const prepared = { ...run, launch, preparation: runner.prepare(launch) }
  refuseMissingProgram(parts, prepared)
  return prepared
}

function refuseMissingProgram(parts: Parts, prepared: PreparedRun): void {
  const { agent, recipe, preparation, launch } = prepared
  const [program] = preparation.argv
  const env = launchEnvironment(parts, prepared, preparation, { id: prepared.launch.spool.run, session: undefined })
  const path = program.includes('/') ? resolve(recipe.cwd, program) : program
  if (programPath(path, { ...parts.environment, env }) !== undefined) return
  throw launch.command ? ownProgramMissing(agent.address, program) : programMissing(agent.address, recipe.tool)
}

const ownProgramMissing = (address: string, program: string): SkeinError =>
  new SkeinError(
    'agent-died',
    `${address} did not start: the program ${JSON.stringify(program.slice(0, 80))} of its command was not found`,
    `Correct its command with --command, or put the program on your PATH, then try again`,
  )

export const programMissing = (address: string, tool: string): SkeinError =>
  new SkeinError(
    'agent-died',
    `${address} did not start: the program of ${tool} was not found`,
    `Install it or put it on your PATH (skein tool show ${tool}), then try again`,
  )

/** Writes everything a run needs, readable by its user alone. Nothing is started, except where a program tells its id no other way. */
export async function writeRun(parts: Parts, run: PreparedRun): Promise<ReadyRun> {
  const { launch, preparation } = run
  const { directory, startedAt, port } = launch
  const id = launch.spool.run
  const script = launchScriptOf(parts, id)
  const written = [directory, script]
  const discard = (): void => {
    for (const path of written)
      try {
        rmSync(path, { recursive: true, force: true })
      } catch {
        // It could not be written either: what keeps us from there is the error that is reported.
      }
  }
  try {
    parts.spool.prepare()
    writeFiles(directory, { ...preparation, files: [...preparation.files, ...ownFiles(parts, run)] }, written)
    const captured = await capturedFirst(parts, run, preparation, id)
    const session = captured?.session ?? preparation.session ?? run.session
    const env = {
      ...launchEnvironment(parts, run, preparation, { id, session: session ?? run.made }),
      ...captured?.env,
    }
    writeLaunchScript({ path: script, argv: captured?.argv ?? preparation.argv, env })
    const launching = {
      id,
      socket: parts.socket,
      place: thisPlace(),
      tmux_session: run.tmuxSession,
      started_at: startedAt,
      port,
      how: run.how,
      home: parts.home.paths.agents,
      ...(preparation.isMute ? { is_mute: true as const } : {}),
    }
    const again = againScript(parts, run.agent)
    return { launching, script, ...(session ? { session } : {}), ...(again ? { again } : {}), discard }
  } catch (error) {
    discard()
    throw error
  }
}

/** What Skein itself needs for a run: the secret of an API, and what hooks call. Fifty agents that start wait for each file that is made. */
function ownFiles(
  { answering, home: { profile } }: Parts,
  { runner, launch }: PreparedRun,
): { path: string; content: string }[] {
  const secret = runner.answer ? [{ path: join(launch.directory, SECRET_FILE), content: launch.secret }] : []
  const hooks = answering && runner.can.tells ? hookFiles(launch, answering, { profile, tool: runner.name }) : []
  return [...secret, ...hooks]
}

/** Only where it is known how Skein itself is run: a program that uses the library has no command line. The same for all runs of an agent. */
function againScript({ home, runs, self, environment }: Parts, { id }: Pick<Agent, 'id'>): string | undefined {
  if (!self) return undefined
  const { SKEIN_HOME, XDG_DATA_HOME, XDG_CONFIG_HOME } = environment.env
  const env = { SKEIN_HOME, XDG_DATA_HOME, XDG_CONFIG_HOME }
  const path = join(runs.directoryOf(id), AGAIN_FILE)
  return writeAgainScript({ path, skein: self, profile: home.profile, agent: id, env })
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
export async function clearOldRuns(parts: Parts, agent: Agent, keep: string): Promise<void> {
  const directory = parts.runs.directoryOf(agent.id)
  const old = (name: string): boolean => name !== keep && !OF_THE_AGENT.includes(name) && !name.startsWith('env')
  for (const name of existsSync(directory) ? readdirSync(directory).filter(old) : [])
    await rm(join(directory, name), { recursive: true, force: true })
}

/** The secret of a run, for tools whose API asks for one. */
export function secretOf(parts: Parts, agent: Agent, run: LiveRun): string {
  return readFileSync(join(parts.runs.directoryOf(agent.id), run.id, SECRET_FILE), 'utf8')
}

/** Adds to `made` which files were not there before. Those in the directory of the run are new with it: nobody reads one half written. */
function writeFiles(directory: string, { files, links = [] }: Preparation, made: string[]): void {
  placeLinks(links)
  for (const { path, content, onlyIfAbsent } of files) {
    const isThere = existsSync(path)
    if (onlyIfAbsent && isThere) continue
    if (!isThere) made.push(path)
    try {
      makeDirectory(dirname(path))
      if (dirname(path) === directory) writeFileSync(path, content, { mode: 0o600 })
      else writeAtomic(path, content, { durable: false })
    } catch (error) {
      throw explainDiskError(error, path) // some belong where the tool keeps its own files, whatever is there
    }
  }
}

/** A first run, without a terminal, for programs that choose their own id and tell it only so. Without an answer it is left out. */
async function capturedFirst(
  parts: Parts,
  run: PreparedRun,
  preparation: Preparation,
  id: string,
): Promise<{ session: SessionId; argv: readonly [string, ...string[]]; env: Record<string, string> } | undefined> {
  const { capture } = preparation
  if (!capture) return undefined
  const [program, ...args] = capture.argv
  const env = launchEnvironment(parts, run, preparation, { id, session: undefined })
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
