// A program of one's own that works on one line after another: no hooks, no log, no ids. `hold` takes until a signal, all else no time.
import { createInterface } from 'node:readline'

const waiting = []
let isBusy = false

const show = (text) => process.stdout.write(`\x1b[2J\x1b[H${text}`)

function next() {
  const line = waiting.shift()
  isBusy = line !== undefined
  if (!isBusy) return show('line> ')
  if (line === 'hold') return show('executing')
  show(`got ${line}\n`)
  next()
}

process.on('SIGUSR2', () => {
  show('done\n')
  next()
})

createInterface({ input: process.stdin }).on('line', (line) => {
  waiting.push(line)
  if (isBusy) show(`executing, ${waiting.length} waiting`)
  else next()
})
next()
