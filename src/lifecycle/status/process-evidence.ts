import { constants } from 'node:os'
import { lifeOf, whereaboutsOf } from '../../disk/index.js'
import type { Evidence, Instant } from '../../model/index.js'
import type { PaneInfo } from '../../terminal/index.js'
import type { ToolRunner } from '../../tools/index.js'
import type { LiveRun } from '../agent-run.js'
import { lifeOfRun, placeName, serverOf } from '../run/run-life.js'
import type { Look } from '../terminals.js'
import { UNREACHABLE } from './evidence.js'
import { isWithinTree, processNames } from './process-family.js'

/** What programs exit with that catch SIGINT to end. Whoever pressed Ctrl-C wanted that. */
const BY_CTRL_C = 128 + constants.signals.SIGINT
const SHELLS = new Set(['sh', 'bash', 'dash', 'zsh', 'fish', 'ksh'])

/** What can be seen of an agent's process. */
export interface ProcessSeen {
  evidence: Evidence
  /** It has ended, by evidence from where it ran. What merely cannot be found has not. */
  isOver: boolean
}

export function processSeen(
  live: LiveRun,
  look: Look,
  pane: PaneInfo | undefined,
  runner: ToolRunner | undefined,
  at: Instant,
): ProcessSeen {
  const base = { source: 'process', at } as const
  const unknown = (reason: string): ProcessSeen => ({
    evidence: { ...base, status: 'unknown', reason, rule: UNREACHABLE },
    isOver: false,
  })
  const failed = (trouble: 'tmux-gone' | 'dead-pane', reason: string, isOver: boolean): ProcessSeen => ({
    evidence: { ...base, status: 'error', trouble, reason },
    isOver,
  })
  if (pane) return paneSeen(live, pane, runner, at)
  if (look.kind === 'silent') {
    return { evidence: { ...base, status: 'unknown', reason: look.reason }, isOver: false }
  }
  const trouble = look.kind === 'gone' ? 'tmux-gone' : 'dead-pane'
  switch (lifeOfRun(live)) {
    case 'unknown':
      return unknown(`it runs ${placeName(live)}, and its tmux server cannot be reached from here`)
    case 'dead': {
      const isRestarted = whereaboutsOf(live.place) === 'restarted'
      if (isRestarted) return failed('tmux-gone', 'the machine was restarted', true)
      return failed(trouble, look.kind === 'gone' ? 'the tmux server is gone' : 'its pane is gone', true)
    }
    case 'alive': {
      const left = `process ${live.pid} still runs, without a terminal`
      if (isOtherServer(live, look)) {
        return unknown(`process ${live.pid} runs, but its tmux server (process ${live.server?.pid}) cannot be reached`)
      }
      return failed(
        trouble,
        look.kind === 'gone' ? `the tmux server is gone; ${left}` : `its pane is gone; ${left}`,
        false,
      )
    }
  }
}

/** Its server lives, and what answers at the socket, if anything, is another one. */
function isOtherServer(live: LiveRun, look: Look): boolean {
  const server = serverOf(live)
  if (!server || lifeOf(server) !== 'alive') return false
  return look.kind !== 'panes' || look.serverPid !== server.pid
}

function paneSeen(live: LiveRun, pane: PaneInfo, runner: ToolRunner | undefined, at: Instant): ProcessSeen {
  const base = { source: 'process', at } as const
  if (pane.isDead) return { evidence: deadEvidence(pane, at), isOver: true }
  // The name of a process that has just ended is that of the script which tmux ran.
  if (SHELLS.has(pane.command) && lifeOfRun(live) !== 'dead' && runner && isProgramGone(live, runner)) {
    const reason = 'the program has ended and left a shell in its pane'
    return { evidence: { ...base, status: 'error', trouble: 'exited', reason }, isOver: true }
  }
  return { evidence: { ...base, status: 'running', reason: `process ${pane.pid} runs` }, isOver: false }
}

function deadEvidence({ exitStatus, exitSignal }: PaneInfo, at: Instant): Evidence {
  const base = { source: 'process', at } as const
  if (exitSignal === constants.signals.SIGINT || exitStatus === BY_CTRL_C) {
    return { ...base, status: 'stopped', reason: 'ended with Ctrl-C' }
  }
  if (exitSignal !== undefined) {
    return { ...base, status: 'error', trouble: 'dead-pane', reason: `killed by signal ${exitSignal}` }
  }
  if (exitStatus === 0) return { ...base, status: 'stopped', reason: 'exited 0' }
  return { ...base, status: 'error', trouble: 'dead-pane', reason: `exited ${exitStatus ?? 'without a status'}` }
}

/** A shell is in the foreground: the agent's own command, or what is left when the program has ended. */
function isProgramGone(live: LiveRun, runner: ToolRunner): boolean {
  if (whereaboutsOf(live.place) !== 'here') return false
  const names = processNames(live.pid)
  if (names.length === 0 || names.some((name) => runner.isProcess(name))) return false
  return live.program_pid !== undefined && isWithinTree(live.program_pid, live.pid) !== true
}
