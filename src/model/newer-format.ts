import { SkeinError } from './error.js'

/** Whether a file says that it is of a later version. A number that no version will have is damage. */
export const isNewer = (v: unknown, ours: number): boolean =>
  Number.isInteger(v) && Number(v) > ours && Number(v) < 1_000

export function newerFormat(where: string): SkeinError {
  return new SkeinError(
    'newer-format',
    `${where} was written by a newer Skein`,
    'Update Skein (npm install -g skein), then try again; the file was not touched',
  )
}
