import type { Dialog, DialogOption } from '../run/tool-runner.js'
import type { Layout } from './layout.js'
import type { PromptKeys } from './rules.js'

/** So many lines above a prompt, those that are not empty, are taken to say what it is for. */
const CONTEXT_LINES = 8
/** What may stand between a prompt and the place where one types. */
const CLOSING = /^[\s:?>.)\]»❯_-]*$/

/**
 * A line that waits for an answer by key: the last one of the screen, with nothing behind what the pattern matches. One that was
 * answered has the answer behind it, or something below it.
 */
export function readPrompt({ lines }: Layout, hit: RegExpExecArray, keys: PromptKeys): Dialog | undefined {
  const last = lines.at(-1) ?? ''
  if (hit.input !== last || !CLOSING.test(last.slice(hit.index + hit[0].length))) return undefined
  const shown = lines.filter((line) => line !== '').slice(-CONTEXT_LINES)
  return {
    kind: 'permission',
    question: last.trim(),
    subject: shown.map((line) => line.trim()).join('\n'),
    options: [...option('allow', keys.allow), ...option('deny', keys.deny)],
    axis: 'vertical',
  }
}

const option = (meaning: 'allow' | 'deny', keys: readonly string[] | undefined): DialogOption[] =>
  keys ? [{ label: keys.join(' '), meaning, isSelected: false, keys }] : []
