import { constants } from 'node:os'
import { endOf, lifeOf, processName } from '../disk/index.js'
import { commandLine } from './command-line.js'
import { KEEPER } from './server.js'
import type { PaneId, PaneInfo } from './terminal.js'

/** In the order they are read below. Those in which a program may write anything come between marks it cannot know. */
const FIELDS = [
  '#{pane_id}',
  '#{session_name}',
  '#{pid}',
  '#{pane_pid}',
  '#{pane_width}',
  '#{pane_height}',
  '#{pane_dead}',
  '#{pane_dead_status}',
  '#{pane_dead_signal}',
  '#{window_activity}',
  // In the window that some client shows, and not hidden behind a pane that fills it.
  '#{&&:#{window_active_clients},#{||:#{pane_active},#{!=:#{window_zoomed_flag},1}}}',
  '#{@skein_agent}',
  '#{pane_current_command}',
  '#{pane_title}',
  '#{pane_current_path}',
] as const

/** Panes of the whole server, or of a session or pane. `mark` is made up for this one question. */
export function listPanes(mark: string, target?: string): string {
  const format = mark + FIELDS.join(mark)
  return target === undefined
    ? commandLine('list-panes', '-a', '-F', format)
    : commandLine('list-panes', '-t', target, '-F', format)
}

/** Only the time of the last output of each pane of the server. tmux keeps it per window, and an agent has one of its own. */
export const listActivity = (): string => commandLine('list-panes', '-a', '-F', '#{pane_id} #{window_activity}')

/** The answer to `listActivity`. */
export function parseActivity(lines: readonly string[]): Map<PaneId, number> {
  const words = lines.map((line) => line.split(' '))
  return new Map(words.map(([pane = '', seconds]) => [paneId(pane), Number(seconds) * 1_000]))
}

/**
 * A pane whose program is ending: its terminal is closed, or its process waits to be noticed by the server, whose pid this is and which does
 * not know yet how it ended.
 */
export interface UnsettledPane {
  readonly info: PaneInfo
  readonly unsettledIn?: number
  /** Its process has ended, by the word of the system. Otherwise it may have closed its terminal and live on. */
  readonly hasEnded?: boolean
}

/** The answer to `listPanes`: a name or a path may hold line breaks, so only the marks are believed. Ours is left out. */
export function parsePanes(lines: readonly string[], mark: string): UnsettledPane[] {
  const fields = lines.join('\n').split(mark).slice(1)
  const panes: UnsettledPane[] = []
  for (let at = 0; at + FIELDS.length <= fields.length; at += FIELDS.length) {
    const isLast = at + FIELDS.length === fields.length
    const pane = parsePane(fields.slice(at, at + FIELDS.length), isLast)
    if (pane.info.session !== KEEPER) panes.push(pane)
  }
  return panes
}

function parsePane(fields: readonly string[], isLast: boolean): UnsettledPane {
  const [
    pane = '',
    session = '',
    server,
    pid,
    width,
    height,
    dead,
    status,
    signal,
    activity,
    seen,
    agent,
    command = '',
    title = '',
  ] = fields
  const path = fields[FIELDS.length - 1] ?? ''
  const isClosed = dead === '1'
  const isDead = isClosed && (Boolean(status || signal) || isReaped(Number(pid), Number(server)))
  const info: PaneInfo = {
    pane: paneId(pane),
    session,
    pid: Number(pid),
    serverPid: Number(server),
    command,
    title,
    // The line break that ends the record of every pane but the last.
    cwd: isLast ? path : path.slice(0, -1),
    width: Number(width),
    height: Number(height),
    isDead,
    ...(status ? { exitStatus: Number(status) } : {}),
    ...(signal ? { exitSignal: signalNumber(signal) } : {}),
    isSeen: seen === '1',
    ...(Number(activity) > 0 ? { activeAtMs: Number(activity) * 1_000 } : {}),
    ...(agent ? { agent } : {}),
  }
  if (isDead) return { info }
  const hasEnded = isTmux(info.serverPid) && lifeOf(info) === 'dead'
  const isUnnoticed = hasEnded && !isReaped(info.pid, info.serverPid)
  return isClosed || isUnnoticed ? { info, unsettledIn: info.serverPid, hasEnded } : { info }
}

/** A pane whose server does not learn in time how its program ended: it is dead all the same, and the system knows how. */
export const settled = ({ info, hasEnded }: UnsettledPane): PaneInfo =>
  hasEnded ? { ...info, isDead: true, ...endOf(info.pid) } : info

/** tmux knows signals by name on some systems and by number on others. */
function signalNumber(text: string): number {
  const named = Object.entries(constants.signals).find(([name]) => name === `SIG${text.toUpperCase()}`)
  return named?.[1] ?? Number(text)
}

/**
 * tmux says `dead` as soon as the terminal is closed, a moment before it knows how the process ended, and also for one that closed
 * it and lives on. 3.2 never tells a signal, so there the process itself is asked for: it is there until tmux has its status.
 */
function isReaped(pid: number, serverPid: number): boolean {
  if (!isTmux(serverPid)) return false // its pids have no meaning here
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ESRCH'
  }
}

/** Whether the tmux server with this pid can be one of this pid namespace. Where there is no /proc, there are no namespaces. */
export const isTmux = (pid: number): boolean =>
  processName(pid)?.startsWith('tmux') ?? processName(process.pid) === undefined

/** Reads the name of a pane, from tmux or from a file. */
export function paneId(text: string): PaneId {
  if (!isPaneId(text)) throw new TypeError(`not the name of a tmux pane: ${text}`)
  return text
}

const isPaneId = (text: string): text is PaneId => /^%\d+$/.test(text)
