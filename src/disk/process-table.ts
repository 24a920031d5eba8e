import { readFileSync, readlinkSync } from 'node:fs'
import { entriesIn } from './present.js'
import { processStat } from './process-owner.js'

/** A process as others see it. */
export interface RunningProcess {
  readonly pid: number
  /** The name it shows and the first words it was started with, without the directories in front of them. */
  readonly names: readonly string[]
  /** Where it works; undefined for processes of other users. */
  readonly cwd: string | undefined
  readonly startedAtMs: number
}

/** The kernel counts a process's start in these; every Linux that Node runs on says 100. */
const TICKS_PER_SECOND = 100

/** Every process that runs here now. Linux only: elsewhere nothing is found. */
export function runningProcesses(): RunningProcess[] {
  const bootMs = bootTimeMs()
  if (bootMs === undefined) return []
  return entriesIn('/proc').flatMap((name) => {
    const pid = Number(name)
    const stat = Number.isInteger(pid) ? processStat(pid) : undefined
    if (!stat || stat.state === 'Z' || stat.state === 'X') return []
    const startedAtMs = bootMs + (stat.starttime * 1000) / TICKS_PER_SECOND
    return [{ pid, names: namesOf(pid), cwd: directoryOf(pid), startedAtMs }]
  })
}

function bootTimeMs(): number | undefined {
  const seconds = /^btime (\d+)$/m.exec(kernelFile('stat'))?.[1]
  return seconds === undefined ? undefined : Number(seconds) * 1000
}

/** A script is named by the second word: the first is its interpreter. */
function namesOf(pid: number): string[] {
  const words = kernelFile(`${pid}/cmdline`).split('\0').slice(0, 2)
  const names = [kernelFile(`${pid}/comm`).trim(), ...words]
  return names.map((name) => name.slice(name.lastIndexOf('/') + 1)).filter((name) => name !== '')
}

function directoryOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`)
  } catch {
    return undefined
  }
}

function kernelFile(name: string): string {
  try {
    return readFileSync(`/proc/${name}`, 'utf8')
  } catch {
    return '' // it has just ended
  }
}
