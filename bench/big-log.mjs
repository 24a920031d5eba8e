// One long log of each kind, written a piece at a time so that making it needs no memory to speak of.
import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'

const PIECE = 4 * 1024 * 1024

/** The same numbers every time. */
function random(seed) {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

const WORDS =
  'the session reads a file and writes what it found into the index while another process waits for the lock on the table'
    .split(' ')
    .concat(
      Array.from(
        { length: 20_000 },
        (_, at) => `${['parse', 'load', 'merge', 'token', 'queue'][at % 5]}Item${at.toString(36)}`,
      ),
    )

/** Prose and code in about the proportions of a real session: prompts are short, results are long. */
export class Words {
  constructor(seed = 7) {
    this.next = random(seed)
  }

  text(length) {
    let text = ''
    while (text.length < length) {
      const rank = Math.floor(Math.exp(this.next() * Math.log(WORDS.length)) - 1)
      text += WORDS[Math.max(0, rank)] + (this.next() < 0.08 ? '\n' : ' ')
    }
    return text.slice(0, length)
  }
}

/** `usual`: most of a log are results, of which little is kept. `words`: nearly all of it is kept. `tiny`: as many records as fit. */
const SHAPES = {
  usual: { steps: 8, said: [200, 800], result: [500, 12_000], prompt: [60, 600], reply: 1_500 },
  words: { steps: 2, said: [1_000, 4_000], result: [200, 200], prompt: [1_000, 4_000], reply: 8_000 },
  tiny: { steps: 8, said: [1, 20], result: [1, 20], prompt: [1, 20], reply: 20 },
}

function* turnsOf(words, shape) {
  const { steps, said, result, prompt, reply } = SHAPES[shape]
  const some = ([least, more]) => words.text(least + Math.floor(words.next() * more))
  for (let turn = 1; ; turn += 1) {
    const done = Array.from({ length: 1 + Math.floor(words.next() * steps) }, (_, at) => ({
      call: `toolu_${turn}_${at}`,
      said: some(said),
      command: words.text(40),
      result: some(result),
    }))
    yield { turn, prompt: some(prompt), steps: done, reply: words.text(reply) }
  }
}

const SESSION = '11111111-1111-4111-8111-111111111111'
const START = 1_760_000_000_000
const at = (n) => new Date(START + n * 100).toISOString()

function writeLines(path, bytes, lines) {
  mkdirSync(dirname(path), { recursive: true })
  const file = openSync(path, 'w')
  let [size, piece, pending] = [0, [], 0]
  for (const line of lines) {
    const text = `${JSON.stringify(line)}\n`
    piece.push(text)
    pending += text.length
    if (pending < PIECE && size + pending < bytes) continue
    size += writeSync(file, piece.join(''))
    piece = []
    pending = 0
    if (size >= bytes) break
  }
  closeSync(file)
}

function* claudeLines(shape) {
  const words = new Words()
  let n = 0
  const id = (number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
  const record = (type, rest) => {
    n += 1
    const parentUuid = n === 1 ? null : id(n - 1)
    const known = { parentUuid, isSidechain: false, userType: 'external', cwd: '/srv/app', sessionId: SESSION }
    return { ...known, version: '2.1.0', gitBranch: 'main', type, ...rest, uuid: id(n), timestamp: at(n) }
  }
  for (const { turn, prompt, steps, reply } of turnsOf(words, shape)) {
    yield record('user', { message: { role: 'user', content: prompt } })
    const usage = {
      input_tokens: 12,
      output_tokens: 400,
      cache_read_input_tokens: 30_000,
      cache_creation_input_tokens: 900,
    }
    for (const [nth, { call, said, command, result }] of steps.entries()) {
      const message = (content) => ({
        id: `msg_${turn}_${nth}`,
        type: 'message',
        role: 'assistant',
        model: 'claude-sonnet-4-5',
        content: [content],
        usage,
      })
      yield record('assistant', { requestId: `req_${turn}_${nth}`, message: message({ type: 'text', text: said }) })
      yield record('assistant', {
        requestId: `req_${turn}_${nth}`,
        message: message({ type: 'tool_use', id: call, name: 'Bash', input: { command } }),
      })
      const content = [{ tool_use_id: call, type: 'tool_result', content: result }]
      yield record('user', { message: { role: 'user', content }, toolUseResult: { stdout: result, stderr: '' } })
    }
    yield record('assistant', {
      requestId: `req_${turn}`,
      message: {
        id: `msg_${turn}`,
        type: 'message',
        role: 'assistant',
        model: 'claude-sonnet-4-5',
        content: [{ type: 'text', text: reply }],
        stop_reason: 'end_turn',
        usage,
      },
    })
  }
}

/** Below `home`, where the tool itself keeps it. Returns its path. */
export function writeClaudeLog(home, bytes, shape = 'usual') {
  const path = join(home, '.claude', 'projects', '-srv-app', `${SESSION}.jsonl`)
  writeLines(path, bytes, claudeLines(shape))
  return path
}
