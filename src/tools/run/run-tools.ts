import { claudeRunner } from '../claude/claude-runner.js'
import { codexRunner } from '../codex/codex-runner.js'
import { geminiRunner } from '../gemini/gemini-runner.js'
import { opencodeRunner } from '../opencode/opencode-runner.js'
import { piRunner } from '../pi/pi-runner.js'
import { Runners, type ToolSettings } from './runners.js'
import type { ToolRunner } from './tool-runner.js'

/** Every tool that we can run. */
export const RUNNERS: readonly ToolRunner[] = [claudeRunner, codexRunner, geminiRunner, opencodeRunner, piRunner]

export function runnersFor(settings: ToolSettings): Runners {
  return new Runners(RUNNERS, settings)
}
