import { StringDecoder } from 'node:string_decoder'

/** What the server said to one line of commands. */
export interface Answer {
  /** What the first command printed, one entry per line. */
  readonly lines: readonly string[]
  /** Its own words when a command of the line failed. */
  readonly refusal?: string
}

/**
 * Cuts the stream of a control-mode client into answers.
 *
 * tmux frames each answer with `%begin` and `%end`, but what stands between them is the screen of any program, which may show
 * such a line as well, and a path may hold a line break. So every command is followed by one that prints a mark nobody can
 * guess; an answer is what came before its mark. Notifications, which stand between answers, are not used.
 */
export class AnswerReader {
  readonly #decoder = new StringDecoder('utf8')
  readonly #marks: string[] = []
  // The break in front lets a mark in the very first line be found like any other.
  #text = '\n'
  #searched = 0

  /** The next answer ends with this mark. */
  expect(mark: string): void {
    this.#marks.push(mark)
  }

  /** The answers that are complete now, in the order they were asked for. */
  feed(bytes: Uint8Array): Answer[] {
    this.#text += this.#decoder.write(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
    if (this.#marks.length === 0) {
      // Nothing was asked: notifications. Only the line that is not complete yet is kept.
      this.#text = this.#text.slice(this.#text.lastIndexOf('\n'))
      return []
    }
    const answers: Answer[] = []
    for (let mark = this.#marks[0]; mark !== undefined; mark = this.#marks[0]) {
      const line = `\n${mark}\n`
      const at = this.#text.indexOf(line, this.#searched)
      if (at < 0) {
        this.#searched = Math.max(0, this.#text.length - line.length)
        break
      }
      answers.push(parseAnswer(this.#text.slice(0, at).split('\n')))
      this.#text = this.#text.slice(at + line.length - 1)
      this.#searched = 0
      this.#marks.shift()
    }
    return answers
  }
}

/** The number behind the time is 1 for commands that came from this client: the answer to its own start has 0. */
const BEGIN = /^%begin (\d+ \d+ 1)$/

function parseAnswer(lines: readonly string[]): Answer {
  const begin = lines.findIndex((line) => BEGIN.test(line))
  if (begin < 0) return { lines: [], refusal: 'tmux gave no answer' }
  const block = BEGIN.exec(lines[begin] ?? '')?.[1]
  // The last line that can be the end is the end: nothing that follows it was written by a program in a pane.
  const end = lines.findLastIndex((line) => line === `%end ${block}` || line === `%error ${block}`)
  const body = lines.slice(begin + 1, end)
  if (lines[end]?.startsWith('%error')) return { lines: [], refusal: body.join(' ') }
  const refusal = refusalIn(lines.slice(end + 1))
  return { lines: body, ...(refusal === undefined ? {} : { refusal }) }
}

/** What a later command of the same line failed with. */
function refusalIn(lines: readonly string[]): string | undefined {
  const error = lines.findIndex((line) => /^%error \d+ \d+ 1$/.test(line))
  if (error < 0) return undefined
  const begin = lines.slice(0, error).findLastIndex((line) => BEGIN.test(line))
  return lines.slice(begin + 1, error).join(' ')
}

/**
 * tmux 3.4 puts a backslash in front of every dollar sign that a letter follows, in all it prints but screens. Every one, so
 * taking one away from each gives back what it was.
 */
export const undoDollars = (line: string): string => line.replace(/\\(?=\$[A-Za-z_{])/g, '')
