import { spawn } from 'node:child_process'
import type { Answer } from './answer-reader.js'
import { type Asker, ConnectionLost } from './asker.js'
import { commandLine, sequence } from './command-line.js'
import { socketArguments, type TmuxServer } from './server.js'
import { noAnswer } from './trouble.js'

interface Question {
  readonly command: string
  resolve(answer: Answer): void
  reject(error: Error): void
}

/**
 * Asks by one short tmux process, which reads its commands from its standard input: nothing of them is on a command line. What is
 * asked in the same moment shares one process. For programs that ask a few things and end; it leaves the server as it is.
 */
export class OneShot implements Asker {
  readonly isOpen = true
  #questions: Question[] = []

  constructor(
    private readonly server: TmuxServer,
    /** Made up for each process: no program in a pane can know it. */
    private readonly secret: () => string,
  ) {}

  ask(command: string, timeoutMs: number): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#questions.push({ command, resolve, reject })
      if (this.#questions.length > 1) return
      queueMicrotask(() => {
        const questions = this.#questions
        this.#questions = []
        this.#run(questions, timeoutMs)
      })
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  #run(questions: readonly Question[], timeoutMs: number): void {
    const secret = this.secret()
    const args = ['-u', '-N', ...socketArguments(this.server.socket), '-f', '/dev/null', 'source-file', '-']
    const child = spawn(this.server.executable, args, {
      env: this.server.environment,
      cwd: '/',
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    const said: Buffer[] = []
    const errors: Buffer[] = []
    child.stdout.on('data', (bytes) => said.push(bytes))
    child.stderr.on('data', (bytes) => errors.push(bytes))
    child.stdin.on('error', () => {}) // it ended before it had read all: what it printed says why
    const fail = (error: Error) => {
      for (const { reject } of questions) reject(error)
    }
    const timer = setTimeout(() => {
      fail(noAnswer(this.server.socket, questions[0]?.command.split(' ')[0] ?? ''))
      child.kill('SIGTERM')
      child.unref()
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy()
    }, timeoutMs)
    child.once('error', (error) => fail(new ConnectionLost(error.message)))
    child.once('close', () => {
      clearTimeout(timer)
      const answers = parseAnswers(Buffer.concat(said).toString(), Buffer.concat(errors).toString(), secret)
      if (answers.length < questions.length) return fail(new ConnectionLost(Buffer.concat(errors).toString().trim()))
      for (const [at, { resolve }] of questions.entries()) resolve(answers[at] ?? { lines: [] })
    })
    child.stdin.end(`${questions.map(({ command }) => framed(command, secret)).join('\n')}\n`)
  }
}

/** On a line of its own the mark of the end comes in any case; on the same line, the mark of success only if nothing failed. */
const framed = (command: string, secret: string): string =>
  `${sequence(command, commandLine('display-message', '-p', `${secret}-done`))}\n${commandLine('display-message', '-p', `${secret}-end`)}`

/** Each failure prints one line as an error, in the order of the commands. */
function parseAnswers(text: string, errors: string, secret: string): Answer[] {
  const refusals = errors.split('\n').filter((line) => line !== '')
  const done = `${secret}-done\n`
  const answers = text
    .split(`${secret}-end\n`)
    .slice(0, -1)
    .map((part): Answer => {
      if (!part.endsWith(done)) return { lines: [], refusal: refusals.shift() ?? 'tmux gave no reason' }
      const body = part.slice(0, -done.length)
      return { lines: body === '' ? [] : body.replace(/\n$/, '').split('\n') }
    })
  // A command within a command fails without stopping the line it is in.
  const [answer] = answers
  return answers.length === 1 && answer && refusals[0] !== undefined ? [{ ...answer, refusal: refusals[0] }] : answers
}
