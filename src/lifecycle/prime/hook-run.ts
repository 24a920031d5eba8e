import { join } from 'node:path'
import { guardedText } from '../../disk/index.js'
import { quoted, spoolCommand } from '../../journal/index.js'
import { type AgentId, isAgentId, readJson, shapes } from '../../model/index.js'
import type { HookAnswer, Launch } from '../../tools/index.js'

const { isObject, misfit, path, shape, text } = shapes

/** How Skein itself is started by programs that it runs, and where the home is. Known to the entry points alone. */
export interface Answering {
  readonly node: string
  readonly program: string
  readonly root: string
  readonly configFile: string
}

/** What a hook of a run has to know: a file of the run, so that neither the environment nor a long command line has to carry it. */
export interface HookRun {
  v: 1
  root: string
  config_file: string
  profile: string
  agent: AgentId
  run: string
  tool: string
}

const HOOK_RUN = shape({ root: path, config_file: path, profile: text, agent: isAgentId, run: text, tool: text })
const MOST_BYTES = 16 * 1024

const fileOf = (directory: string): string => join(directory, 'hook.json')

/** How the program of a run asks for answers. */
export const hookAnswer = (directory: string, { node, program }: Answering): HookAnswer => ({
  script: join(directory, 'answer'),
  words: [node, program, 'hook', '--text', '--run', fileOf(directory)],
})

/** The files behind `hookAnswer`. */
export function hookFiles(
  { directory, spool, agent }: Launch,
  { node, program, root, configFile }: Answering,
  { profile, tool }: { profile: string; tool: string },
): { path: string; content: string }[] {
  if (!spool.answer) return []
  const run: HookRun = { v: 1, root, config_file: configFile, profile, agent, run: spool.run, tool }
  const words = [node, program, 'hook', '--run', fileOf(directory)].map(quoted).join(' ')
  return [
    { path: fileOf(directory), content: `${JSON.stringify(run)}\n` },
    {
      path: spool.answer.script,
      content: answerScript(spoolCommand(spool.directory, { agent, run: spool.run, tool }, '"$2"'), words),
    },
  ]
}

/**
 * Reports first: the status is there at once and whatever becomes of the answer. Then asks; an answer is printed whole or not at all.
 */
const answerScript = (report: string, words: string): string => `m=$(cat)
printf '%s\\n' "$m" | ${report}
a=$(printf '%s\\n' "$m" | ${words} "$1" --pid "$2" 2>/dev/null) && [ -n "$a" ] && printf '%s\\n' "$a"
exit 0
`

/** Undefined when it is gone with its run, or cannot be read. */
export function readHookRun(file: string): HookRun | undefined {
  const value = readJson(guardedText(file, MOST_BYTES) ?? '')
  return isObject(value) && value.v === 1 && misfit(value, HOOK_RUN) === undefined
    ? (value as unknown as HookRun)
    : undefined
}
