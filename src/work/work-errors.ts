import { SkeinError, type WorkUnit } from '../model/index.js'
import type { Hooked } from './work-provider.js'

const shown = (id: string): string => JSON.stringify(id.slice(0, 140))

export const workNotFound = (id: string): SkeinError =>
  new SkeinError('work-not-found', `No work ${shown(id)}`, 'Try: skein work list')

export const mailNotFound = (id: string): SkeinError =>
  new SkeinError('mail-not-found', `No mail ${shown(id)}`, 'Try: skein mail inbox')

export const takenBy = ({ id, agent = 'another agent' }: { id: string; agent?: string }): SkeinError =>
  new SkeinError('work-taken', `${id} is on the hook of ${agent}`, `Take it off first: skein work unhook ${id}`)

export const isDone = ({ id }: { id: string }): SkeinError =>
  new SkeinError('illegal-transition', `Work ${id} is done`, 'Add another unit: skein work add <title>')

/** The units on a hook, for whoever cannot go on without knowing them. */
export function knownUnits({ work, problem }: Hooked): WorkUnit[] {
  if (problem) throw new SkeinError('work-provider', problem.because, problem.next)
  return work
}
