import { runCli } from '../../src/cli/run-cli.js'
import type { Profiles, World } from '../../src/cli/world.js'
import { contextOf } from '../lifecycle/context.js'
import { BINARY } from './binary.js'
import { daemonUnder } from './world.js'

/** For tests in which no home may be opened. */
const NO_PROFILES: Profiles = {
  open: () => Promise.reject(new Error('no home in this test')),
  list: () => Promise.reject(new Error('no home in this test')),
  create: () => Promise.reject(new Error('no home in this test')),
  remove: () => Promise.reject(new Error('no home in this test')),
}

export interface Typed {
  stdout: string
  stderr: string
  exitCode: number
}

/** Types a command line into Skein, in this process. */
export async function type(args: readonly string[], world: Partial<World> = {}): Promise<Typed> {
  const typed = { stdout: '', stderr: '' }
  const exitCode = await runCli({
    args,
    version: () => '1.2.3',
    cwd: '/somewhere',
    stdin: () => '',
    input: async () => '',
    privacyFile: '/somewhere/privacy.yaml',
    stdout: { write: (text) => (typed.stdout += text) },
    stderr: { write: (text) => (typed.stderr += text) },
    settings: {
      profile: undefined,
      session: undefined,
      agent: undefined,
      tmux: undefined,
      noColour: false,
      columns: undefined,
      debug: false,
    },
    actor: 'ada',
    context: contextOf([]),
    answering: { node: process.execPath, program: BINARY, root: '/somewhere', configFile: '/somewhere/config.toml' },
    profiles: NO_PROFILES,
    daemon: daemonUnder('/dev/null/nowhere'), // where no daemon can be started
    now: () => Date.parse('2026-01-17T12:00:00Z'),
    terminal: () => undefined,
    agents: () => Promise.reject(new Error('no agents in this test')),
    handOver: async () => false,
    detach: async () => {},
    interrupted: () => new AbortController().signal,
    isAttended: false,
    ...world,
  })
  return { ...typed, exitCode }
}
