import { readJson } from '../model/index.js'
import type { Forgetter, Forgotten } from '../privacy/index.js'

/** A file of JSON, of JSON lines, or of anything else, without what must go. `keepLine` leaves out whole lines of JSON. */
export function forgetInFile(
  content: string,
  forgetter: Forgetter,
  keepLine: (value: unknown) => boolean = () => true,
): Forgotten<string> {
  const document = parsed(content)
  if (document !== undefined) {
    const { value, count } = forgetter.json(document.value)
    if (count === 0) return { value: content, count }
    const isSpread = content.trimEnd().includes('\n')
    return { value: `${JSON.stringify(value, undefined, isSpread ? 1 : undefined)}\n`, count }
  }
  const lines = content.split('\n')
  // Words that go over several lines are whole only in a text that is not made of lines of JSON.
  if (!lines.some((line) => parsed(line) !== undefined)) return forgetter.text(content)
  let count = 0
  const kept = lines.flatMap((line) => {
    const value = parsed(line)
    if (value !== undefined && !keepLine(value.value)) {
      count += 1
      return []
    }
    const forgotten = value === undefined ? forgetter.text(line) : forgetInLine(line, value.value, forgetter)
    count += forgotten.count
    return [forgotten.value]
  })
  return { value: count === 0 ? content : kept.join('\n'), count }
}

function forgetInLine(line: string, document: unknown, forgetter: Forgetter): Forgotten<string> {
  const { value, count } = forgetter.json(document)
  return { value: count === 0 ? line : JSON.stringify(value), count }
}

/** Objects and lists only: a number or a word on a line of its own is text, and so is what is nested too deeply to be walked. */
export function parsed(text: string): { value: object } | undefined {
  const start = text.trimStart()[0]
  if (start !== '{' && start !== '[') return undefined
  const value = readJson(text)
  return typeof value === 'object' && value !== null ? { value } : undefined
}
