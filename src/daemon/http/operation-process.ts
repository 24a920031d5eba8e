import { spawn } from 'node:child_process'
import type { Home } from '../../home/index.js'
import type { Agents } from '../../lifecycle/index.js'
import { type ErrorCode, SkeinError } from '../../model/index.js'
import { errorFacts, isOperationName, loadOperation, type OperationContext, readInput } from '../../operations/index.js'

/** What the daemon asks of a process that runs one operation. */
export interface ToOperation {
  readonly name: string
  readonly input: Readonly<Record<string, unknown>>
  readonly nowMs: number
}

/** What that process answers with, once. */
export type FromOperation = { readonly result: object } | { readonly error: ReturnType<typeof errorFacts> }

/**
 * Runs an operation that computes for long in a process of its own: the daemon answers others meanwhile. The process ends with its answer,
 * or when nobody waits for that any longer.
 */
export function runApart(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  asked: ToOperation,
  abandoned: AbortSignal,
): Promise<object> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, argv, { stdio: ['ignore', 'ignore', 'ignore', 'ipc'], env })
    const stop = (): void => void child.kill('SIGTERM')
    abandoned.addEventListener('abort', stop, { once: true })
    child.on('error', reject)
    child.on('message', (message) => {
      const answer = message as FromOperation // from our own program
      if ('result' in answer) resolve(answer.result)
      else reject(errorOf(answer.error))
    })
    // After the last message, whereas the exit may be heard of before it.
    child.on('disconnect', () => {
      abandoned.removeEventListener('abort', stop)
      reject(new Error(`the process of ${asked.name} ended without an answer`))
    })
    child.send(asked)
  })
}

const errorOf = ({ code, message, next, details = [] }: ReturnType<typeof errorFacts>): SkeinError =>
  new SkeinError(code as ErrorCode, message, next, { details })

/** The other side: runs what it is asked for. A bug is thrown, and ends the process without an answer. */
export async function answerApart(
  { name, input, nowMs }: ToOperation,
  openHome: () => Promise<Home>,
  context: Pick<OperationContext, 'configFile' | 'privacyFile' | 'profiles'>,
  openAgents: (home: Home) => Promise<Agents>,
): Promise<FromOperation> {
  if (!isOperationName(name)) throw new Error(`there is no operation ${name}`)
  const operation = await loadOperation(name)
  await using home = await openHome()
  let agents: Promise<Agents> | undefined
  const opened = (): Promise<Agents> => {
    agents ??= openAgents(home)
    return agents
  }
  const noList = (): never => {
    throw new Error(`${name} runs apart, where no agent is watched`)
  }
  try {
    const result = await operation.run(readInput(operation, input, { nowMs }), {
      ...context,
      nowMs,
      home: async () => home,
      agents: opened,
      live: { list: noList, next: noList },
      abandoned: () => new AbortController().signal, // the process ends with whoever asked
    })
    return { result }
  } catch (error) {
    if (error instanceof SkeinError) return { error: errorFacts(error) }
    throw error
  } finally {
    await (await agents?.catch(() => undefined))?.[Symbol.asyncDispose]()
  }
}
