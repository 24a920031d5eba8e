import { join } from 'node:path'
import type { Home } from '../home/index.js'
import type { Agents } from '../lifecycle/index.js'
import { SkeinError } from '../model/index.js'
import { usageError } from '../operations/index.js'
import type { Cli, Given } from './command.js'
import { COMMANDS } from './command-table.js'
import { DEFAULT_PROFILE, GLOBAL_OPTIONS } from './global-options.js'
import { sortArgs } from './input/sort-args.js'
import { type ExitCode, isClosedPipe, reportError } from './report-error.js'
import { type Route, route } from './route.js'
import { Output } from './screen/output.js'
import type { World } from './world.js'

/** Does what was typed, and says how it went. Never throws: errors become a line on stderr and an exit code. */
export async function runCli(world: World): Promise<ExitCode> {
  try {
    return await follow(route(world.args, COMMANDS), world)
  } catch (thrown) {
    const error = await explained(thrown)
    const { exitCode, line } = reportError(error, { debug: world.settings.debug, json: isJson(world.args) })
    if (line !== undefined) tryToSay(line, world)
    return exitCode
  }
}

/** A machine that has run out of something can fail any command at any place. */
async function explained(error: unknown): Promise<unknown> {
  if (!(error instanceof Error) || !('code' in error) || isClosedPipe(error)) return error
  const { shortage } = await import('../disk/index.js')
  return shortage(error, 'path' in error ? String(error.path) : '.') ?? error
}

/** Also when what was typed could not be understood. */
function isJson(args: readonly string[]): boolean {
  const end = args.indexOf('--')
  return (end < 0 ? args : args.slice(0, end)).includes('--json')
}

/** With nobody left to read it, the exit code has to say it alone. */
function tryToSay(line: string, { stderr }: World): void {
  try {
    stderr.write(`${line}\n`)
  } catch (error) {
    if (!isClosedPipe(error)) throw error
  }
}

async function follow(wanted: Route, world: World): Promise<ExitCode> {
  switch (wanted.kind) {
    case 'version':
      world.stdout.write(`skein ${world.version()}\n`)
      return 0
    case 'overview': {
      const { overview } = await import('./commands/overview.js')
      const given = sortArgs(overview, wanted.args)
      const out = outputOf(world, given)
      await withHome(world, given, out, (cli) => overview.start(given, cli))
      return out.exitCode
    }
    case 'help': {
      const { helpFor } = await import('./help.js')
      const out = outputOf(world, world.args.includes('--no-color') ? { 'no-color': [''] } : {})
      out.text(await helpFor(wanted.words, COMMANDS, out.screen))
      return 0
    }
    case 'complete': {
      const { complete } = await import('./complete.js')
      world.stdout.write(await complete(wanted.args, world))
      return 0
    }
    case 'command': {
      const command = await wanted.entry.load()
      const given = sortArgs(command, wanted.args)
      const out = outputOf(world, given)
      await withHome(world, given, out, async (cli) => {
        if (world.settings.run !== undefined) await beat(world, cli.profile, world.settings.run, command.name)
        await command.start(given, cli)
      })
      return out.exitCode
    }
  }
}

/** Typed inside an agent: a sign that it lives. Other commands load nothing for it. */
async function beat(world: World, profile: string, run: string, command: string): Promise<void> {
  const { touchBeat } = await import('../journal/index.js')
  const { root } = world.daemon
  touchBeat(join(root, 'profiles', profile, 'beats'), run, command, world.now())
}

function outputOf(world: World, given: Given): Output {
  return new Output(world.stdout, world.stderr, {
    json: given.json !== undefined,
    colour: given['no-color'] === undefined && !world.settings.noColour,
    columns: world.settings.columns,
    now: world.now,
  })
}

/** Makes a profile that was asked for by name, where that is surely meant: a typo in a script must not begin an empty home. */
async function openProfile(
  world: World,
  profile: string,
  { isNamed, creates }: { isNamed: boolean; creates: boolean },
): Promise<Home> {
  const { profiles, stderr } = world // not isAttended, which costs time to find out
  if (creates && !isNamed) throw usageError('--create goes with --profile', 'Name the profile: --profile <name>')
  try {
    return await profiles.open(profile)
  } catch (error) {
    const isMissing = error instanceof SkeinError && error.code === 'profile-not-found'
    if (!isMissing || !(creates || (isNamed && world.isAttended))) throw error
    await profiles.create(profile)
    stderr.write(`Created the profile ${profile}. Undo: skein profile delete ${profile}\n`)
    return profiles.open(profile)
  }
}

/** Runs a command with a home that is opened when it asks for it and closed whatever happens. */
async function withHome(world: World, given: Given, out: Output, run: (cli: Cli) => Promise<void>): Promise<void> {
  const named = GLOBAL_OPTIONS.profile.read(given.profile ?? [], { nowMs: world.now() })
  const profile = named ?? world.settings.profile ?? DEFAULT_PROFILE
  let opened: Promise<Home> | undefined
  let agents: Promise<Agents> | undefined
  let typed: string | undefined
  const home = (): Promise<Home> => {
    opened ??= openProfile(world, profile, { isNamed: named !== undefined, creates: given.create !== undefined })
    return opened
  }
  try {
    await run({
      out,
      nowMs: world.now(),
      get cwd() {
        return world.cwd
      },
      stdin: () => {
        typed ??= world.stdin() // it can be read once
        return typed
      },
      input: world.input,
      privacyFile: world.privacyFile,
      currentSession: world.settings.session,
      currentAgent: world.settings.agent,
      profile,
      profiles: world.profiles,
      context: world.context,
      get answering() {
        return world.answering
      },
      get actor() {
        return world.actor
      },
      daemon: world.daemon,
      home,
      agents: () => {
        agents ??= home().then((open) => world.agents(open))
        return agents
      },
      agentsOf: (open) => world.agents(open, { wakes: false }),
      tmux: world.settings.tmux,
      passphrase: world.settings.passphrase,
      get isAttended() {
        return world.isAttended
      },
      detach: world.detach,
      handOver: world.handOver,
      terminal: world.terminal,
      interrupted: world.interrupted,
    })
  } finally {
    const started = await agents?.catch(() => undefined) // what did not open has said so already
    await started?.[Symbol.asyncDispose]()
    const open = await opened?.catch(() => undefined)
    await open?.[Symbol.asyncDispose]()
  }
}
