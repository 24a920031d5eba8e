import { close, constants, open, write } from 'node:fs'
import { stat } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { refuseDeadDirectory } from '../disk/index.js'
import { type Context, SkeinError } from '../model/index.js'
import { commandLine, forMessage, sequence, withoutFormats } from './command-line.js'
import { Connection } from './connection.js'
import { withoutEndedKeys } from './ended-keys.js'
import { follow } from './follow.js'
import { keyArguments } from './key-name.js'
import { endLeftClients, listClients } from './left-clients.js'
import { nudge } from './nudge.js'
import { listActivity, listPanes, paneId, parseActivity, parsePanes, settled, type UnsettledPane } from './pane-list.js'
import { checkPasteable } from './pasteable.js'
import { cleanEnvironment, KEEPER, socketPath, type TmuxServer } from './server.js'
import { lookCommands, type SessionLook } from './session-look.js'
import { checkSessionName, exactly } from './session-name.js'
import { OURS } from './settings.js'
import type { CaptureOptions, Key, NewPane, PaneEvent, PaneId, PaneInfo, Terminal, TmuxSocket } from './terminal.js'
import { paneGone, refused } from './trouble.js'
import { checkTmux } from './version.js'

const DEFAULT_TIMEOUT_MS = 5_000
const DEFAULT_SIZE = { width: 140, height: 45 }
const ANNOUNCE_MS = 5_000
/** So often a pane whose terminal is closed is asked for again, if its program lives on. */
const SETTLE_TRIES = 4
/** So long one whose program has ended: the system tells tmux how only when the last thread is gone, on a busy machine seconds later. */
const ENDED_MS = 3_000
const AFTER_ESCAPE_MS = 100
const SETTLE_MS = 5
const MOST_SETTLE_MS = 50
const SCREEN = { repeatable: true, isScreen: true }

export interface OpenTerminal {
  readonly socket: TmuxSocket
  readonly context: Context
  /** The tmux to run; found on the PATH of `environment` when it is only a name. */
  readonly executable?: string
  /** The user's. Only what every program needs (home, path, language) is passed on: see `cleanEnvironment`. */
  readonly environment?: Readonly<Record<string, string | undefined>>
  /**
   * Stay connected, so that no process is started per question: for whoever stays (the daemon, a screen). Else each call is one
   * short process. Following events is always connected.
   */
  readonly kept?: boolean
  /** This process has opened a terminal with the same tmux before, so its version is known to do. */
  readonly isChecked?: boolean
  /** How long the server may take over one answer before it counts as unknown. */
  readonly timeoutMs?: number
}

/** Checks that tmux is there. Connects to the server when something is asked, and starts it when a pane is created. */
export async function openTerminal(options: OpenTerminal): Promise<Terminal> {
  const environment = cleanEnvironment(options.environment ?? {})
  const server: TmuxServer = { socket: options.socket, executable: options.executable ?? 'tmux', environment }
  checkSocket(server)
  if (!options.isChecked) await checkTmux({ executable: server.executable, environment })
  const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS
  return new TmuxTerminal(server, options.context, timeoutMs, options.kept ?? false)
}

class TmuxTerminal implements Terminal {
  readonly #connection: Connection
  /** Panes whose program has ended and of which tmux did not say how, in all the time that it was given: they are not waited for again. */
  readonly #unexplained = new Set<string>()

  constructor(
    private readonly server: TmuxServer,
    private readonly context: Context,
    private readonly timeoutMs: number,
    isKept: boolean,
  ) {
    this.#connection = new Connection(server, context, { timeoutMs, isKept })
  }

  get socket(): TmuxSocket {
    return this.server.socket
  }

  panes(): Promise<PaneInfo[]> {
    return this.#list()
  }

  async pane(pane: PaneId): Promise<PaneInfo> {
    // tmux lists the whole window of a pane.
    const found = (await this.#list(pane)).find((info) => info.pane === pane)
    if (!found) throw paneGone(pane)
    return found
  }

  async serverPid(): Promise<number> {
    const [pid] = await this.#connection.ask(commandLine('display-message', '-p', '#{pid}'), { repeatable: true })
    return Number(pid)
  }

  async activity(): Promise<Map<PaneId, number>> {
    return parseActivity(await this.#connection.ask(listActivity(), { repeatable: true }))
  }

  async create(pane: NewPane): Promise<PaneInfo> {
    const target = exactly(pane.session)
    const cwd = await directory(pane.cwd)
    const size = ['-x', String(pane.width ?? DEFAULT_SIZE.width), '-y', String(pane.height ?? DEFAULT_SIZE.height)]
    const [made = ''] = await this.#connection.ask(
      sequence(
        commandLine(
          ...['new-session', '-d', '-E', '-P', '-F', '#{pane_id}', '-s', withoutFormats(pane.session), ...size],
          ...['-c', withoutFormats(cwd), '--', 'sh', pane.script],
        ),
        // On the same line, so that even a program that ends at once leaves its pane and its exit status.
        commandLine('set-option', '-p', '-t', target, 'remain-on-exit', 'on'),
        commandLine('set-option', '-p', '-t', target, '--', '@skein_agent', pane.agent),
        ...lookCommands(target, pane),
        ...withoutEndedKeys(target, pane.again),
        nameWindow(pane.session, pane.session),
      ),
      { start: true },
    )
    // tmux looks at the process, which may not have got there yet.
    return { ...(await this.pane(paneId(made))), cwd }
  }

  async respawn(pane: PaneId, options: Pick<NewPane, 'cwd' | 'script' | 'again'> & SessionLook): Promise<PaneInfo> {
    const cwd = await directory(options.cwd)
    await this.#connection.ask(
      sequence(
        // The title of the program before would be taken for the new one's.
        commandLine('select-pane', '-t', pane, '-T', ''),
        // Before the program, which inherits the session's variables.
        ...lookCommands(pane, options),
        // A pane that was made elsewhere, or that its user has set otherwise, would be gone with its exit status.
        commandLine('set-option', '-p', '-t', pane, 'remain-on-exit', 'on'),
        commandLine('respawn-pane', '-k', '-t', pane, '-c', withoutFormats(cwd), '--', 'sh', options.script),
        commandLine('clear-history', '-t', pane),
        ...withoutEndedKeys(pane, options.again),
      ),
    )
    return { ...(await this.pane(pane)), cwd }
  }

  async setEnvironment(pane: PaneId, environment: NonNullable<SessionLook['environment']>): Promise<void> {
    const commands = lookCommands(pane, { environment })
    if (commands.length > 0) await this.#connection.ask(sequence(...commands), { repeatable: true })
  }

  async capture(pane: PaneId, options: CaptureOptions = {}): Promise<string> {
    return (await this.#connection.ask(captureCommand(pane, options), SCREEN)).join('\n')
  }

  async captureAll(panes: readonly PaneId[], options: CaptureOptions = {}): Promise<Map<PaneId, string>> {
    const captured = await Promise.all(
      panes.map((pane) => this.#connection.tryAsking(captureCommand(pane, options), SCREEN)),
    )
    const screens = new Map<PaneId, string>()
    for (const [at, pane] of panes.entries()) {
      const answer = captured[at]
      if (answer?.refusal === undefined) screens.set(pane, answer?.lines.join('\n') ?? '')
      else if (!isPaneGone(answer.refusal)) throw refused(answer.refusal)
    }
    return screens
  }

  async paste(pane: PaneId, text: string): Promise<void> {
    checkPasteable(text)
    if (text === '') return
    if ((await this.pane(pane)).isDead) throw ended(pane)
    const buffer = `skein-${this.#random()}`
    const drop = commandLine('delete-buffer', '-b', buffer)
    const paste = commandLine('paste-buffer', '-p', '-r', '-d', '-b', buffer, '-t', pane)
    // tmux 3.3a ends, with every pane it has, when something is pasted into a pane whose program has ended. So the server
    // itself looks, in the same moment.
    const [isDead] = await this.#connection.ask(
      sequence(
        commandLine('display-message', '-p', '-t', pane, '#{pane_dead}'),
        commandLine('set-buffer', '-b', buffer, '--', text),
        commandLine('if-shell', '-F', '-t', pane, '#{pane_dead}', drop, paste),
      ),
    )
    if (isDead === '1') throw ended(pane)
  }

  async press(pane: PaneId, keys: readonly Key[]): Promise<void> {
    if (keys.length === 0) return
    if ((await this.pane(pane)).isDead) throw ended(pane)
    for (const [at, group] of upToEscapes(keys).entries()) {
      if (at > 0) await new Promise((resolve) => setTimeout(resolve, AFTER_ESCAPE_MS))
      const presses = group
        .map(keyArguments)
        .map(({ literal, word }) => commandLine('send-keys', '-t', pane, ...(literal ? ['-l'] : []), '--', word))
      // Someone who scrolled back is in copy mode, which would take the keys for itself.
      await this.#connection.ask(sequence(commandLine('copy-mode', '-q', '-t', pane), ...presses))
    }
  }

  async publish(pane: PaneId, options: Readonly<Record<`@${string}`, string>>): Promise<void> {
    const commands = Object.entries(options).map(([option, value]) =>
      commandLine('set-option', '-p', '-t', pane, '--', userOption(option), value),
    )
    if (commands.length > 0) await this.#connection.ask(sequence(...commands), { repeatable: true })
  }

  async publishToAll(option: `@${string}`, value: string): Promise<void> {
    await this.#connection.ask(commandLine('set-option', '-g', '--', userOption(option), value), { repeatable: true })
  }

  async announce(text: string, options: { readonly bell?: boolean } = {}): Promise<void> {
    const line = forMessage(text.replace(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]+/gu, ' '))
    const mark = this.#random()
    const format = `${mark}#{client_control_mode}${mark}#{client_name}${mark}#{client_tty}`
    const listed = await this.#connection.ask(commandLine('list-clients', '-F', format), { repeatable: true })
    for (const client of listed) {
      const [, isControl, name = '', tty = ''] = client.split(mark)
      if (isControl === '1') continue
      // A client that has just left is no failure. tmux 3.2 cannot show a message to a chosen client at all: there it only rings.
      const message = commandLine('display-message', '-c', name, '-d', String(ANNOUNCE_MS), '--', line)
      await this.#connection.tryAsking(message).catch(() => undefined)
      if (options.bell) await ringBell(tty)
    }
  }

  async signalMarked(mark: string, signal: 'TERM' | 'KILL'): Promise<void> {
    if (!/^[A-Z_]+=[0-9A-Za-z-]+$/.test(mark)) throw new RangeError(`not a mark: ${mark}`)
    const script = [
      'for file in /proc/[0-9]*/environ; do',
      `if tr '\\0' '\\n' 2>/dev/null <"$file" | grep -qxF '${mark}'; then`,
      `process=\${file%/environ}; kill -${signal} "\${process##*/}"; fi; done`,
    ].join(' ')
    await this.#connection.ask(commandLine('run-shell', '-b', withoutFormats(script)))
  }

  async rename(session: string, to: string): Promise<void> {
    const name = withoutFormats(checkSessionName(to))
    await this.#connection.ask(
      sequence(nameWindow(session, to), commandLine('rename-session', '-t', exactly(session), '--', name)),
    )
  }

  async close(session: string): Promise<void> {
    await this.#connection.ask(commandLine('kill-session', '-t', exactly(session)))
  }

  async closeUnseen(pane: PaneId): Promise<void> {
    // Decided by the server itself, so that nobody who attaches meanwhile is thrown out.
    const destroy = commandLine('set-option', '-t', pane, 'destroy-unattached', 'on')
    const isAlone = '#{&&:#{==:#{session_windows},1},#{==:#{window_panes},1}}'
    const later = commandLine('if-shell', '-F', '-t', pane, isAlone, destroy)
    const now = commandLine('kill-pane', '-t', pane)
    await this.#connection.ask(commandLine('if-shell', '-F', '-t', pane, '#{session_attached}', later, now))
  }

  async endIfEmpty(): Promise<void> {
    // Decided by the server itself, so that a pane that is made meanwhile is not lost. `S:` repeats its text for each session.
    const isAlone = `#{&&:#{==:#{S:x},x},#{==:#{session_attached},0}}`
    const isEmpty = `#{&&:#{==:#{${OURS}},1},${isAlone}}`
    const end = commandLine('if-shell', '-F', '-t', `=${KEEPER}:`, isEmpty, 'kill-server')
    try {
      const [, clients] = await Promise.all([
        this.#connection.ask(end),
        this.#connection.tryAsking(listClients(), { repeatable: true }),
      ])
      // They would keep it: it was empty but for them.
      if (await endLeftClients(clients.lines)) await this.#connection.ask(end)
    } catch (error) {
      if (!(error instanceof SkeinError)) throw error // it has ended, or is none of ours
    }
  }

  follow(signal: AbortSignal): AsyncIterable<PaneEvent> {
    return follow(this.server, this.context, this.timeoutMs, signal)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#connection[Symbol.asyncDispose]()
  }

  async #list(target?: PaneId): Promise<PaneInfo[]> {
    const from = performance.now()
    const askedAgain = new Set<string>()
    for (let tries = 0; ; tries += 1) {
      const mark = this.#random()
      const panes = parsePanes(await this.#connection.ask(listPanes(mark, target), { repeatable: true }), mark)
      // Its status may have come between the answer and the look at its process; the next answer has it.
      const silent = panes.filter((pane) => hasNoStatus(pane) && !this.#unexplained.has(keyOf(pane)))
      const isNew = silent.some((pane) => !askedAgain.has(keyOf(pane)))
      for (const pane of silent) (askedAgain.has(keyOf(pane)) ? this.#unexplained : askedAgain).add(keyOf(pane))
      if (isNew) continue
      const unsettled = panes.filter((pane) => pane.unsettledIn !== undefined && !this.#unexplained.has(keyOf(pane)))
      const isEnding = unsettled.some((pane) => pane.hasEnded)
      const isEnough = isEnding ? performance.now() - from >= ENDED_MS : tries >= SETTLE_TRIES
      if (isEnding && isEnough) for (const pane of unsettled) this.#unexplained.add(keyOf(pane))
      if (unsettled.length === 0 || isEnough) return panes.map(settled)
      for (const server of new Set(unsettled.map((pane) => pane.unsettledIn ?? 0))) nudge(server)
      await sleep(Math.min(SETTLE_MS * 1.2 ** tries, MOST_SETTLE_MS))
    }
  }

  #random(): string {
    return Buffer.from(this.context.random.bytes(12)).toString('hex')
  }
}

const hasNoStatus = ({ info: { isDead, exitStatus, exitSignal } }: UnsettledPane): boolean =>
  isDead && exitStatus === undefined && exitSignal === undefined

const keyOf = ({ info: { serverPid, pane, pid } }: UnsettledPane): string => `${serverPid} ${pane} ${pid}`

function checkSocket(server: TmuxServer): void {
  const bad = (why: string, next: string) => new SkeinError('bad-input', why, next)
  const { socket } = server
  if ('name' in socket && !/^[A-Za-z0-9_][A-Za-z0-9_.-]*$/.test(socket.name))
    throw bad(`${JSON.stringify(socket.name)} cannot name a tmux server.`, 'Use letters, digits, "-" and "_"')
  // The system's own limit; tmux would say so only when it is started.
  if (Buffer.byteLength(socketPath(server)) > 107)
    throw bad(`The path of the tmux socket is too long: ${socketPath(server)}`, 'Choose a path of at most 107 bytes')
}

/** tmux would start the program in the home directory instead, without a word. */
async function directory(path: string): Promise<string> {
  refuseDeadDirectory(path)
  const found = await stat(path).catch(() => undefined)
  if (found?.isDirectory()) return path
  throw new SkeinError('bad-input', `There is no directory ${path}`, 'Create it, or name another one')
}

/** The window of the agent, which is the first of its session, is called as the session is. tmux then leaves its name alone. */
const nameWindow = (session: string, name: string): string =>
  commandLine('rename-window', '-t', `${exactly(session)}^`, '--', withoutFormats(checkSessionName(name)))

function captureCommand(pane: PaneId, options: CaptureOptions): string {
  const flags = [...(options.styles ? ['-e'] : []), ...(options.history ? ['-S', String(-options.history)] : [])]
  return commandLine('capture-pane', '-p', ...flags, '-t', pane)
}

const ended = (pane: PaneId): SkeinError => refused(`the program in pane ${pane} has ended`)

const isPaneGone = (refusal: string): boolean => refused(refusal).code === 'pane-gone'

function userOption(name: string): string {
  if (/^@[A-Za-z0-9_-]+$/.test(name)) return name
  throw new SkeinError(
    'bad-input',
    `${JSON.stringify(name)} cannot name an option of tmux.`,
    'Use @ and letters, digits, "-", "_"',
  )
}

/** tmux has no command that rings. The one byte goes to the terminal of the client; if it has just left, nobody hears it. */
async function ringBell(tty: string): Promise<void> {
  try {
    const file = await promisify(open)(tty, constants.O_WRONLY | constants.O_NOCTTY | constants.O_NONBLOCK)
    await promisify(write)(file, Buffer.from('\x07'), 0, 1, null).finally(() => promisify(close)(file))
  } catch {
    // Gone, or not ours to write to.
  }
}

/** Programs read Escape and a key that follows at once as one key: Alt with it. */
function upToEscapes(keys: readonly Key[]): Key[][] {
  const groups: Key[][] = [[]]
  for (const key of keys) {
    groups.at(-1)?.push(key)
    if (key === 'Escape') groups.push([])
  }
  return groups.filter((group) => group.length > 0)
}
