export interface Source {
  /** Below src. */
  readonly name: string
  readonly room: string
  readonly text: string
  readonly lines: number
  readonly functions: readonly { readonly called: string; readonly lines: number }[]
  /** Lines of calls that are returned behind a `using` and not waited for. */
  readonly unheld: readonly number[]
}

export const LONG_FUNCTION: number
export const LONG_FILE: number
export function readSources(src: string): Source[]
