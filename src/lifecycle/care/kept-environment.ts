import { join } from 'node:path'
import { makeDirectory, textIn, writeAtomic } from '../../disk/index.js'
import { type Agent, readJson } from '../../model/index.js'
import type { Parts } from '../parts.js'
import { isPassedOn } from '../run/launch-environment.js'

/** Among the files of an agent that outlive its runs, whose names begin with `env`. */
const FILE = 'env-shell.json'

/** What belongs to a login or a desktop, and not to the agent: after a reboot the old value leads nowhere. */
const OF_A_LOGIN =
  /^(SSH_AUTH_SOCK|SSH_AGENT_PID|SSH_CONNECTION|SSH_CLIENT|SSH_TTY|DBUS_SESSION_BUS_ADDRESS|DISPLAY|WAYLAND_DISPLAY|XAUTHORITY|XDG_RUNTIME_DIR|XDG_SESSION_ID|XDG_VTNR|GPG_TTY|WINDOWID)$/

/**
 * Keeps the environment that the user's shell gave the agent (0600). The daemon has a small one of its own, so an agent that it
 * brings back would otherwise come without the keys it was started with.
 */
export function keepEnvironment(parts: Parts, agent: Pick<Agent, 'id'>): void {
  const passed = Object.entries(parts.environment.env).filter(
    ([name, value]) => value !== undefined && isPassedOn(name),
  )
  const text = `${JSON.stringify(Object.fromEntries(passed))}\n`
  const path = fileOf(parts, agent)
  if (textIn(path) === text) return
  makeDirectory(parts.runs.directoryOf(agent.id))
  writeAtomic(path, text, { durable: true })
}

/** The same parts with the environment that the agent was last started with; unchanged where none was kept. */
export function withKeptEnvironment(parts: Parts, agent: Pick<Agent, 'id'>): Parts {
  const value = readJson(textIn(fileOf(parts, agent)) ?? '')
  if (typeof value !== 'object' || value === null) return parts
  const kept = Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string')
  const now = Object.entries(parts.environment.env).filter(([name]) => OF_A_LOGIN.test(name))
  const env = { ...Object.fromEntries(kept), ...Object.fromEntries(now) }
  return { ...parts, environment: { ...parts.environment, env } }
}

const fileOf = ({ runs }: Pick<Parts, 'runs'>, { id }: Pick<Agent, 'id'>): string => join(runs.directoryOf(id), FILE)
