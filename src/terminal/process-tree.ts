import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ProcessOwner, type ProcessStat, processStat } from '../disk/index.js'

/** One process of a tree, named so that this very one can be found again. */
export interface TreeProcess {
  readonly pid: number
  readonly starttime: number
  /** How it is known to belong: by its parents, by the session it was started in, or by the mark in its environment. */
  readonly by: 'root' | 'parent' | 'session' | 'mark'
}

export interface EndTree {
  /** How long processes may take to end by themselves before they are killed. */
  readonly graceMs: number
  /** `NAME=value` in the environment of all that the agent started, also of what left its parents and its session. */
  readonly mark?: string
}

/** How long the kernel may take to end what was killed; longer only for a process stuck in a device. */
const KILL_MS = 2_000

/**
 * The processes that belong to a program: what descends from it, what is still in its session although its parent has ended, and
 * what carries the mark. The program itself may have ended already. Never this process. Linux only: elsewhere nothing is found.
 */
export function processTree(root: ProcessOwner, mark?: string): TreeProcess[] {
  return [...growTree(new Map(), root, mark, new ProcessScan()).values()]
}

/**
 * Ends the tree: SIGTERM, a grace, SIGKILL; gives back what is still there. Each process is checked by its start time right before
 * it is signalled, so that a pid that has come back as something else is left alone.
 */
export async function endTree(root: ProcessOwner, options: EndTree): Promise<TreeProcess[]> {
  const tree = growTree(new Map(), root, options.mark, await scanOfThisMoment())
  // Only what belongs to the tree starts more of it.
  if (living(tree).length === 0) return []
  const asked = new Set<number>()
  const left = await untilGone(options.graceMs, () => {
    // What was started meanwhile is asked as well, once.
    for (const member of living(growTree(tree, root, options.mark, new ProcessScan()))) {
      if (asked.has(member.pid)) continue
      asked.add(member.pid)
      signalProcess(member, 'SIGTERM')
      // A stopped process would take note of it only when it goes on.
      signalProcess(member, 'SIGCONT')
    }
    return living(tree)
  })
  if (left.length === 0) return []
  return untilGone(KILL_MS, () => {
    for (const member of living(growTree(tree, root, options.mark, new ProcessScan()))) signalProcess(member, 'SIGKILL')
    return living(tree)
  })
}

type Tree = Map<number, TreeProcess>

/** Adds what belongs to the tree now. Whoever was once seen in it stays in it, whatever becomes of its parents. */
function growTree(tree: Tree, root: ProcessOwner, mark: string | undefined, scan: ProcessScan): Tree {
  const { processes } = scan
  const add = (pid: number, stat: ProcessStat, by: TreeProcess['by']) => {
    if (pid !== process.pid) tree.set(pid, { pid, starttime: stat.starttime, by })
  }
  const belongs = (pid: number): boolean => tree.get(pid)?.starttime === processes.get(pid)?.starttime && tree.has(pid)
  const atRoot = processes.get(root.pid)
  const isRootItself = atRoot !== undefined && atRoot.starttime === root.starttime
  if (isRootItself) add(root.pid, atRoot, 'root')
  const addDescendants = () => {
    for (let grew = true; grew; ) {
      grew = false
      for (const [pid, stat] of processes) {
        if (belongs(pid) || !belongs(stat.ppid) || pid === process.pid) continue
        add(pid, stat, 'parent')
        grew = true
      }
    }
  }
  addDescendants()
  for (const [pid, stat] of processes) {
    if (belongs(pid)) continue
    // A pid is not given out again while a session is named by it. Another process under it means that the session had ended.
    const isInSession = stat.session === root.pid && (isRootItself || atRoot === undefined)
    if (isInSession && root.starttime !== undefined && stat.starttime >= root.starttime) add(pid, stat, 'session')
    else if (mark !== undefined && scan.carries(pid, mark)) add(pid, stat, 'mark')
  }
  addDescendants()
  return tree
}

function allProcesses(): Map<number, ProcessStat> {
  const processes = new Map<number, ProcessStat>()
  for (const name of directoryNames('/proc')) {
    const pid = Number(name)
    const stat = Number.isInteger(pid) ? processStat(pid) : undefined
    if (stat && stat.state !== 'Z' && stat.state !== 'X') processes.set(pid, stat)
  }
  return processes
}

function directoryNames(path: string): string[] {
  try {
    return readdirSync(path)
  } catch {
    return [] // not Linux
  }
}

/** Every process of one moment, with its environment once that was asked for: reading it for each of many trees takes longest. */
class ProcessScan {
  readonly processes = allProcesses()
  readonly #environments = new Map<number, string>()

  /** Only of our own user's processes can it be read, so only they can be found by it. */
  carries(pid: number, mark: string): boolean {
    const known = this.#environments.get(pid)
    const environment = known ?? environmentOf(pid)
    if (known === undefined) this.#environments.set(pid, environment)
    return environment.includes(`\0${mark}\0`)
  }
}

function environmentOf(pid: number): string {
  try {
    return `\0${readFileSync(`/proc/${pid}/environ`, 'latin1')}`
  } catch {
    return ''
  }
}

let nextScan: Promise<ProcessScan> | undefined

/** Shared by all who ask before it is made: fifty agents that are started at once look for what was left of each. */
function scanOfThisMoment(): Promise<ProcessScan> {
  nextScan ??= new Promise((resolve) => {
    setImmediate(() => {
      nextScan = undefined
      resolve(new ProcessScan())
    })
  })
  return nextScan
}

const living = (tree: Tree): TreeProcess[] => [...tree.values()].filter(isAlive)

function isAlive({ pid, starttime }: TreeProcess): boolean {
  const stat = processStat(pid)
  return stat !== undefined && stat.starttime === starttime && stat.state !== 'Z' && stat.state !== 'X'
}

function signalProcess(member: TreeProcess, signal: NodeJS.Signals): void {
  if (!isAlive(member)) return
  try {
    process.kill(member.pid, signal)
  } catch {
    // It has just ended, or runs under another user: what is left is reported.
  }
}

/** Looks again, ever less often, until nothing is left or the time is over. */
async function untilGone(limitMs: number, look: () => TreeProcess[]): Promise<TreeProcess[]> {
  const end = performance.now() + limitMs
  for (let pauseMs = 5; ; pauseMs = Math.min(pauseMs * 1.5, 100)) {
    const left = look()
    const remaining = end - performance.now()
    if (left.length === 0 || remaining <= 0) return left
    await sleep(Math.min(pauseMs, remaining))
  }
}
