// A program of one's own that asks in a line: no hooks, no dialog, no ids. What it was answered is in its log.
import { appendFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const log = (record) => appendFileSync(process.env.FAKE_LOG, `${JSON.stringify(record)}\n`)
const ask = (what) => {
  asked = what
  process.stdout.write(`About to run ${what}\nProceed? [y/n] `)
}
let asked

if (process.argv[2] === '--brief') {
  console.log('line program')
  setTimeout(() => process.exit(Number(process.argv[3] ?? 0)), 200)
} else {
  console.log('line program')
  createInterface({ input: process.stdin }).on('line', (line) => {
    if (asked !== undefined) {
      log({ answered: line, what: asked })
      asked = undefined
      console.log('thank you')
    } else if (line.startsWith('ask ')) ask(line.slice(4))
    else console.log(`got ${line}`)
  })
  // Somebody answers in the pane, and it asks for something else.
  process.on('SIGUSR2', () => {
    process.stdout.write('y\n')
    ask('rm -rf important')
  })
}
