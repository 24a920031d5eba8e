// A small agent program for a terminal, as real ones are: a prompt line, bracketed paste, a dialog that arrow keys move in, hooks
// that are a line for sh. What it is to do is said by its arguments, and by what it is told.
import { spawn, spawnSync } from 'node:child_process'
import { appendFileSync, existsSync } from 'node:fs'
import { createServer } from 'node:net'

const args = process.argv.slice(2)
const option = (name) => (args.includes(name) ? args[args.indexOf(name) + 1] : undefined)
const { FAKE_HOOK, FAKE_LOG } = process.env
const isResumed = args.includes('--resume')
let session = option('--resume') ?? option('--session-id') ?? 'made-up-by-itself'

const log = (record) => FAKE_LOG && appendFileSync(FAKE_LOG, `${JSON.stringify(record)}\n`)
const tell = (message) => {
  if (!FAKE_HOOK) return
  spawnSync('sh', ['-c', FAKE_HOOK], {
    input: JSON.stringify({ session, ...message }),
    stdio: ['pipe', 'ignore', 'ignore'],
  })
}

if (option('--die') !== undefined) {
  console.log(`fake: cannot start, because ${option('--because') ?? 'of nothing'}`)
  process.exit(Number(option('--die')))
}

if (option('--serve') !== undefined) createServer().listen(Number(option('--serve')), '127.0.0.1')

let draft = ''
/** So many Enters are lost, and so long a pasted text takes until it is there: as on a busy machine. */
let deaf = Number(option('--deaf') ?? 0)
const slow = Number(option('--slow') ?? 0)
let dialog
let work
const out = (text) => process.stdout.write(text)
const draw = () => {
  if (dialog) {
    out('\x1b[2J\x1b[H')
    out(`QUESTION: ${dialog.question}\r\n`)
    for (const [at, label] of dialog.options.entries()) out(`${at === dialog.at ? '❯' : ' '} ${label}\r\n`)
    return
  }
  out(`\r\x1b[K${work ? 'WORKING …' : `> ${draft.split('\n')[0]}`}`)
}

function begin(prompt) {
  out(`\r\x1b[K> ${prompt.split('\n')[0]}\r\n`)
  log({ prompt, session, pid: process.pid })
  const [word] = prompt.split(' ')
  const rest = prompt.slice(word.length + 1)
  if (word === 'die') process.exit(Number(rest))
  if (word === 'leave') {
    out(`${rest}\r\n`) // and says why
    process.exit(1)
  }
  if (word === 'ignore') return draw() // takes the text and does nothing
  tell({ event: 'prompt', prompt })
  work = { prompt }
  draw()
  if (word === 'ask' || word === 'plan') return setTimeout(() => ask(word, rest), 150)
  if (word === 'child') {
    // A program that the agent runs, which inherits its environment and speaks in its name.
    const child = `printf '{"session":"child-session","event":"start","how":"startup"}' | { ${FAKE_HOOK}; }`
    spawnSync('sh', ['-c', `sh -c '${child.replaceAll("'", `'\\''`)}'; true`])
  }
  if (word === 'shell') {
    spawn('sleep', [rest || '300'], { stdio: 'ignore', detached: true }).unref()
    tell({ event: 'background', background: 1 })
  }
  if (word === 'hang') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0) // it takes no key any more
  // A tool call that takes long: a child that uses the CPU, or only waits.
  if (word === 'build') spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' })
  if (word === 'sleep') spawn('sleep', ['300'], { stdio: 'ignore' })
  if (word === 'clear') {
    session = `${session}-cleared`
    tell({ event: 'start', how: 'clear' })
  }
  if (['forever', 'shell', 'build', 'sleep'].includes(word)) return undefined
  // Without a hook only its screen says that it works: long enough to be seen on a machine that is busy.
  return setTimeout(() => finish(`reply to ${prompt}`), word === 'slow' ? Number(rest) : FAKE_HOOK ? 200 : 1_500)
}

function finish(reply) {
  work = undefined
  out(`\r\x1b[K${reply}\r\n`)
  tell({ event: 'stop', reply })
  draw()
}

function ask(kind, what, isTold = true) {
  dialog = {
    question: kind === 'plan' ? 'Shall I go on with this plan?' : `May I run ${what || 'it'}?`,
    options:
      kind === 'plan'
        ? ['Yes, and stop asking', 'Yes, go on', 'No, keep planning']
        : ['No', 'Yes', 'Yes, always', 'Yes, and never ask again'],
    at: 0,
    what,
  }
  if (isTold) tell({ event: 'ask', kind: kind === 'plan' ? 'plan' : 'permission', what })
  draw()
}

function key(name) {
  if (name === 'escape' && (dialog || work)) {
    dialog = undefined
    work = undefined
    out('\x1b[2J\x1b[H')
    log({ interrupted: true })
    return draw() // like the real ones, it sends no hook
  }
  if (dialog) {
    if (name === 'down') dialog.at = Math.min(dialog.at + 1, dialog.options.length - 1)
    if (name === 'up') dialog.at = Math.max(dialog.at - 1, 0)
    if (name === 'enter') {
      const chosen = dialog.options[dialog.at]
      const { what } = dialog
      log({ chosen })
      dialog = undefined
      out('\x1b[2J\x1b[H')
      tell({ event: 'answered', what })
      draw()
      return setTimeout(() => finish(`you chose ${chosen}`), 300)
    }
    if (name.length === 1) log({ typed_into_dialog: name })
    return draw()
  }
  if (name === 'enter') {
    if (draft.startsWith('stuck')) return draw()
    if (draft !== '' && deaf > 0) {
      deaf -= 1
      log({ lost: 'enter' })
      return draw()
    }
    const prompt = draft
    draft = ''
    return prompt === '' ? draw() : begin(prompt)
  }
  if (name === 'clear') draft = ''
  else if (name === 'quit') {
    if (args.includes('--stubborn')) return draw()
    log({ quit: true })
    process.exit(0)
  } else if (name.length === 1) draft += name
  return draw()
}

const KEYS = {
  '\r': 'enter',
  '\x15': 'clear',
  '\x03': 'quit',
  '\x04': 'quit',
  '\x1b[A': 'up',
  '\x1b[B': 'down',
  '\x1b': 'escape',
}
const later = (act) => (slow > 0 ? setTimeout(act, slow) : act())
let buffer = ''
function feed(text) {
  buffer += text
  for (;;) {
    const paste = /^\x1b\[200~([\s\S]*?)\x1b\[201~/.exec(buffer)
    if (paste) {
      if (dialog) log({ pasted_into_dialog: paste[1] })
      else
        later(() => {
          draft += paste[1].replaceAll('\r', '\n')
          draw()
        })
      buffer = buffer.slice(paste[0].length)
      continue
    }
    if (buffer === '' || buffer.startsWith('\x1b[200~')) return
    const known = Object.keys(KEYS)
      .sort((a, b) => b.length - a.length)
      .find((sequence) => buffer.startsWith(sequence))
    const sequence = known ?? String.fromCodePoint(buffer.codePointAt(0))
    buffer = buffer.slice(sequence.length)
    key(known ? KEYS[known] : sequence)
  }
}

process.stdin.setRawMode?.(true)
process.stdin.setEncoding('utf8')
process.stdin.on('data', feed)
if (!args.includes('--stubborn')) process.on('SIGHUP', () => process.exit(129))
// Its dialog becomes another one, as if somebody had answered in the pane; with --untold its hook is late.
process.on('SIGUSR2', () => ask('permission', option('--then'), !args.includes('--untold')))
if (args.includes('--stubborn')) {
  for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT']) process.on(signal, () => {})
  // It also outlives its terminal.
  for (const stream of [process.stdin, process.stdout]) stream.on('error', () => {})
  // It ends with the directory of its test: nobody else would end it.
  setInterval(() => existsSync(process.env.SKEIN_HOME ?? '/') || process.exit(0), 500)
}
out('\x1b[?2004h')
log({ started: session, resumed: isResumed, env: { GIVEN: process.env.GIVEN }, args, pid: process.pid })
setTimeout(
  () => {
    if (args.includes('--dialog')) ask('permission', 'start here')
    tell({ event: 'start', how: isResumed ? 'resume' : 'startup' })
    draw()
  },
  Number(option('--delay') ?? 0),
)
