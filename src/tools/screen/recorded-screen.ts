import type { Screen } from '../run/tool-runner.js'

const NOTE = /^--- title=\[(.*)\] cmd=\[/
const ESCAPES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\-_])/g

/** A screen from a file, as `tmux capture-pane -p` wrote it, with colours or without. A last line `--- title=[…] cmd=[…]` tells the title. */
export function recordedScreen(text: string): Screen {
  const lines = text
    .replace(/\r?\n$/, '')
    .replace(ESCAPES, '')
    .split(/\r?\n/)
  const note = NOTE.exec(lines.at(-1) ?? '')
  const shown = note ? lines.slice(0, -1) : lines
  return { lines: shown, title: note?.[1] ?? '', width: Math.max(40, ...shown.map((line) => line.length)) }
}
