import type { Paint } from './paint.js'

/** What a text for people is drawn on. */
export interface Screen {
  /** Cells per line; infinite when nobody looks at it (a pipe, a file). */
  readonly width: number
  readonly paint: Paint
  readonly nowMs: number
}
