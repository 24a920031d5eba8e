import { SkeinError } from '../model/index.js'

const shown = (id: string): string => JSON.stringify(id.slice(0, 140))

export const workNotFound = (id: string): SkeinError =>
  new SkeinError('work-not-found', `No work ${shown(id)}`, 'Try: skein work list')

export const mailNotFound = (id: string): SkeinError =>
  new SkeinError('mail-not-found', `No mail ${shown(id)}`, 'Try: skein mail inbox')

export const takenBy = ({ id, agent = 'another agent' }: { id: string; agent?: string }): SkeinError =>
  new SkeinError('work-taken', `${id} is on the hook of ${agent}`, `Take it off first: skein work unhook ${id}`)
