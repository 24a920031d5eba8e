import type { Terminal } from '../../terminal/index.js'
import type { Screen, ScreenReading, ToolRunner } from '../../tools/index.js'
import type { LiveRun } from '../agent-run.js'

export async function screenOf(terminal: Terminal, live: LiveRun): Promise<Screen> {
  const [info, screen] = await Promise.all([terminal.pane(live.pane), terminal.capture(live.pane)])
  return { lines: screen.split('\n'), title: info.title, width: info.width }
}

export async function readScreenOf(runner: ToolRunner, terminal: Terminal, live: LiveRun): Promise<ScreenReading> {
  return runner.readScreen(await screenOf(terminal, live))
}
