import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

/** Where a process runs. A pid has a meaning there and nowhere else. */
export interface ProcessPlace {
  host: string
  /** Tells machines with the same name apart. Absent in most containers. */
  machine?: string
  /** The kernel's id of this boot. Linux only. */
  boot?: string
  /** `pid:[4026531836]`. Linux only. */
  pid_namespace?: string
}

/** `restarted`: the machine has booted since, so no process of that time lives. `elsewhere`: nothing can be seen from here. */
type Whereabouts = 'here' | 'restarted' | 'elsewhere'

let known: ProcessPlace | undefined

export function thisPlace(): ProcessPlace {
  known ??= placeOf({
    machine: machineId(),
    boot: firstLine('/proc/sys/kernel/random/boot_id'),
    pid_namespace: linkAt('/proc/self/ns/pid'),
  })
  return known
}

/** Without a record of its place (files of earlier versions) a process is taken to have run here. */
export function whereaboutsOf(place: ProcessPlace | undefined, here: ProcessPlace = thisPlace()): Whereabouts {
  if (!place) return 'here'
  const isSameHost = place.host === here.host && place.machine === here.machine
  if (place.boot === undefined || here.boot === undefined) return isSameHost ? 'here' : 'elsewhere'
  if (place.boot !== here.boot) return isSameHost ? 'restarted' : 'elsewhere'
  // The same kernel, whatever its name is by now.
  return place.pid_namespace === here.pid_namespace ? 'here' : 'elsewhere'
}

function placeOf(facts: { [name in keyof ProcessPlace]?: string | undefined }): ProcessPlace {
  const given = Object.entries(facts).filter(([, value]) => value !== undefined)
  return { host: hostname(), ...Object.fromEntries(given) }
}

/** The id itself is not for files that may be shared: systemd asks to hash it. */
function machineId(): string | undefined {
  const id = firstLine('/etc/machine-id')
  return (
    id && process.getBuiltinModule('node:crypto').createHash('sha256').update(`skein ${id}`).digest('hex').slice(0, 16)
  )
}

function firstLine(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').split('\n')[0] || undefined
  } catch {
    return undefined
  }
}

function linkAt(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}
