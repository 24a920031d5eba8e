/** Colours for a terminal, or none at all. Paint after making text safe and after measuring it. */
export interface Paint {
  bold(text: string): string
  dim(text: string): string
  red(text: string): string
  green(text: string): string
  yellow(text: string): string
  cyan(text: string): string
}

const plain = (text: string): string => text
export const PLAIN_PAINT: Paint = { bold: plain, dim: plain, red: plain, green: plain, yellow: plain, cyan: plain }

const sgr =
  (on: number, off: number) =>
  (text: string): string =>
    `\x1b[${on}m${text}\x1b[${off}m`
export const COLOUR_PAINT: Paint = {
  bold: sgr(1, 22),
  dim: sgr(2, 22),
  red: sgr(31, 39),
  green: sgr(32, 39),
  yellow: sgr(33, 39),
  cyan: sgr(36, 39),
}
