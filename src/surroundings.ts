import { existsSync, readlinkSync } from 'node:fs'
import { homedir, tmpdir, userInfo } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Surroundings } from './home/index.js'
import type { Answering, SocketFacts } from './lifecycle/index.js'
import { SkeinError } from './model/index.js'

/** Where a home and its settings lie. */
export interface HomeLocation {
  root: string
  configFile: string
  /** The user's own privacy policy. */
  privacyFile: string
}

/** Everything under `home` (or SKEIN_HOME) when it is set, else where the XDG rules put data and settings. */
export function homeLocation(home: string | undefined = process.env.SKEIN_HOME || undefined): HomeLocation {
  const root = home && resolve(home)
  // Agents are given the home that they belong to, also where it is the usual one: its settings are then in their usual place.
  if (root && (!isUsualHome(root) || existsSync(join(root, 'config.toml')))) return { root, ...settingsIn(root) }
  const data = process.env.XDG_DATA_HOME || join(homeDirectory(), '.local', 'share')
  const config = process.env.XDG_CONFIG_HOME || join(homeDirectory(), '.config')
  return { root: join(data, 'skein'), ...settingsIn(join(config, 'skein')) }
}

/**
 * Makes a relative SKEIN_HOME absolute, for this process and for all that it starts: the daemon works in another directory, and so does
 * whoever types `cd`. Returns what to tell the user, once.
 */
export function settleHome(): string | undefined {
  const given = process.env.SKEIN_HOME
  if (!given || isAbsolute(given)) return undefined
  const meant = resolve(workingDirectory(), given)
  process.env.SKEIN_HOME = meant
  return `SKEIN_HOME is the relative path ${given}: here that is ${meant}, elsewhere it is another home. Set it to an absolute path`
}

function isUsualHome(root: string): boolean {
  const data = process.env.XDG_DATA_HOME
  try {
    return root === join(data || join(homeDirectory(), '.local', 'share'), 'skein')
  } catch {
    return false // there is no home directory
  }
}

const settingsIn = (directory: string): Omit<HomeLocation, 'root'> => ({
  configFile: join(directory, 'config.toml'),
  privacyFile: join(directory, 'privacy.yaml'),
})

/** Where the tools keep their logs, and which time zone a day is in. */
export function surroundings(): Surroundings {
  return {
    get home() {
      return homeDirectory()
    },
    env: process.env,
    get zone() {
      return zoneBySystem() ?? zoneByCalendar() ?? zoneByOffset()
    },
  }
}

/** A process in a container may have neither HOME nor a user that the system knows. */
function homeDirectory(): string {
  try {
    return homedir()
  } catch (error) {
    const next = 'Set HOME, and SKEIN_HOME if Skein should keep its files elsewhere'
    throw new SkeinError('home-unreadable', 'Cannot determine your home directory', next, { cause: error })
  }
}

/** Random bytes, asked of the system for many at a time: every event needs ten of them. */
export function randomBytes(count: number): Uint8Array {
  if (count > RANDOM_POOL) return crypto.getRandomValues(new Uint8Array(count))
  if (random.left < count) {
    crypto.getRandomValues(random.pool)
    random.left = RANDOM_POOL
  }
  random.left -= count
  const bytes = random.pool.slice(random.left, random.left + count)
  random.pool.fill(0, random.left, random.left + count)
  return bytes
}
const RANDOM_POOL = 4096
const random = { pool: new Uint8Array(RANDOM_POOL), left: 0 }

/** A shell may stand in a directory that was deleted since. */
export function workingDirectory(): string {
  try {
    return process.cwd()
  } catch (error) {
    throw new SkeinError(
      'bad-input',
      'The current directory no longer exists',
      'Change to an existing directory (cd)',
      {
        cause: error,
      },
    )
  }
}

/** How Skein itself is run, for a bundle two folders below the package. */
export const selfBeside = (bundle: string): readonly [string, string] => [
  process.execPath,
  fileURLToPath(new URL('../../bin/skein.js', bundle)),
]

/** What decides which tmux server a home's agents run in. */
export function socketFacts(home: string | undefined = process.env.SKEIN_HOME || undefined): SocketFacts {
  return { ownRoot: home, temporary: tmpdir(), userId: process.geteuid?.() }
}

/** How agents ask this installation of Skein for answers; `program` is its `bin/skein.js`. */
export function answering(program: URL, home?: string): Answering {
  const { root, configFile } = homeLocation(home)
  return { node: process.execPath, program: fileURLToPath(program), root, configFile }
}

/** The name of the time zone as the system's files give it: `Intl` knows it too, but takes 12 ms to load its calendars. */
function zoneBySystem(): string | undefined {
  const files = '/usr/share/zoneinfo/'
  const { TZ } = process.env
  if (TZ !== undefined) {
    // POSIX: a colon may come first, a file may be named by its path, and nothing means the zone without an offset.
    const name = TZ.replace(/^:/, '').replace(files, '')
    if (name === '') return 'UTC'
    return /^[A-Za-z][\w+/-]*$/.test(name) && existsSync(files + name) ? name : undefined
  }
  try {
    const file = readlinkSync('/etc/localtime')
    return file.includes(files) ? file.slice(file.indexOf(files) + files.length) : undefined
  } catch {
    return undefined
  }
}

/** Undefined where TZ is a rule ("UTC+3") or a mistake, whatever the types say. */
function zoneByCalendar(): string | undefined {
  const zone: string | undefined = Intl.DateTimeFormat().resolvedOptions().timeZone
  return zone === 'Etc/Unknown' ? undefined : zone
}

/** Days must begin when the clock that is shown says so: a zone of the same offset, which Etc names with the opposite sign. */
function zoneByOffset(): string {
  const hours = new Date().getTimezoneOffset() / 60
  if (hours === 0 || !Number.isInteger(hours)) return 'UTC'
  return `Etc/GMT${hours > 0 ? '+' : ''}${hours}`
}

/** Who changes are recorded for. The system may not know: a container can run under a number without a name. */
export function actorName(): string {
  const named = process.env.SKEIN_ACTOR || process.env.USER || process.env.LOGNAME
  if (named) return named
  try {
    return userInfo().username
  } catch {
    return `user-${process.geteuid?.()}`
  }
}
