import { commandLine, sequence } from './command-line.js'
import { KEEPER } from './server.js'

/**
 * The event bus inside the server: hooks number what happens and keep it in user options, the newest 2,048; then they wake whoever
 * waits. Nobody clears anything, so any number of followers read the same events by their numbers, and none is lost between
 * reading and waiting: a follower only waits if no newer number is there, which the server decides in one step.
 */
export const RING = 2_048
const COUNTER = '@skein_events'
const SLOT = '@skein_event_'
const CHANNEL = 'skein-events'
/** Our place in the lists of hooks, beside any the user has. */
const HOOK_INDEX = 7_536

const GATE_HOOK = 'pane-title-changed'

/** Each hook and what is kept of it; free text comes last. */
const HOOKS: readonly { hook: string; text: string }[] = [
  { hook: 'pane-died', text: 'died #{hook_pane} #{pane_dead_status}' },
  { hook: 'pane-exited', text: 'died #{hook_pane} #{pane_dead_status}' },
  { hook: GATE_HOOK, text: 'title #{hook_pane} #{pane_title}' },
  { hook: 'alert-bell', text: 'bell #{pane_id}' },
  { hook: 'session-closed', text: 'session-closed #{hook_session_name}' },
  { hook: 'session-created', text: 'sessions-changed' },
  { hook: 'session-renamed', text: 'sessions-changed' },
]

const slotAt = (number: string): string => `${SLOT}#{e|m|:${number},${RING}}`

export function installHooks(): string[] {
  return [
    // Kept if it is there: another follower counts with it.
    commandLine('set-option', '-goq', COUNTER, '0'),
    ...HOOKS.map(({ hook, text }) => {
      // Panes of our own session are not reported; once a session is closed, tmux no longer knows which one it was.
      const isOfPane = text.includes('#{hook_pane}')
      const commands = isOfPane ? unlessKeeper(recording(text), hook === GATE_HOOK) : recording(text)
      return commandLine('set-hook', '-g', `${hook}[${HOOK_INDEX}]`, commands)
    }),
  ]
}

/** The client that connects, by its secret; the newest one where there are several. */
const CONNECTING = '@skein_connecting'
const GATE_S = '0.25'
/** A gate is closed for so many times this at most: on a busy machine a client takes seconds to connect. */
const GATE_STEPS = 24

/**
 * Up to 3.6, a tmux server dies of telling something (a session was made, a client left) to a control client that is just
 * connecting, and every agent with it. So before one connects, we hold back all it could tell: hooks and notices stand in one line,
 * and a hook that takes its time holds up the line. The hook is that of a title, which we change in our own session. It takes its time
 * until `openGate` says that the client has connected.
 */
export const closeGate = (secret: string): string =>
  sequence(
    commandLine('set-option', '-g', CONNECTING, secret),
    // One hook for each: tmux checks that its pane is still there before it begins one, and not when a hook goes on after a pause.
    ...Array.from({ length: GATE_STEPS }, (_, step) =>
      commandLine('select-pane', '-t', `=${KEEPER}:`, '-T', `gate ${secret} ${step}`),
    ),
  )

/** For a client that has connected, or will not. */
export const openGate = (secret: string): string =>
  commandLine('if-shell', '-F', `#{==:#{${CONNECTING}},${secret}}`, commandLine('set-option', '-g', CONNECTING, ''))

const hold = (): string => commandLine('if-shell', '-F', `#{${CONNECTING}}`, commandLine('run-shell', '-d', GATE_S))

function unlessKeeper(commands: string, isGate: boolean): string {
  const otherwise = isGate ? [hold()] : []
  return commandLine('if-shell', '-F', `#{!=:#{session_name},${KEEPER}}`, commands, ...otherwise)
}

/** The fix is in 3.7. A version without a number is held back for in vain, which does no harm. */
export function crashesOnNotices(version: string): boolean {
  const [, major, minor] = /^(?:next-)?(\d+)\.(\d+)/.exec(version) ?? []
  return major === undefined || Number(major) < 3 || (Number(major) === 3 && Number(minor) < 7)
}

export const hasKeeper = (): string => commandLine('has-session', '-t', `=${KEEPER}`)

function recording(text: string): string {
  return sequence(
    commandLine('set-option', '-gF', COUNTER, `#{e|+|:#{${COUNTER}},1}`),
    commandLine('set-option', '-gF', slotAt(`#{${COUNTER}}`), `#{${COUNTER}} ${text}`),
    commandLine('wait-for', '-S', CHANNEL),
  )
}

/** How far was counted, and which server it was. */
export const readPosition = (): string => commandLine('display-message', '-p', `#{${COUNTER}} #{pid} #{start_time}`)

export const readEvent = (number: number): string => commandLine('show-options', '-gqv', `${SLOT}${number % RING}`)

/** Answered when there is an event after this one. May be answered without one. */
export const waitForEventAfter = (number: number): string =>
  commandLine('if-shell', '-F', `#{==:#{${COUNTER}},${number}}`, commandLine('wait-for', CHANNEL))
