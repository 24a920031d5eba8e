// A program as agents are: asks for bracketed paste, takes every byte, and appends what it gets to a file.
// argv: the file
import { appendFileSync } from 'node:fs'

process.stdin.setRawMode(true)
process.stdin.on('data', (bytes) => appendFileSync(process.argv[2], bytes))
process.stdout.write('\x1b[?2004hready')
