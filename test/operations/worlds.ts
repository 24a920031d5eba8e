import { request } from 'node:http'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { accessTo, type DaemonClient, ensureDaemon, stopDaemon } from '../../src/daemon/index.js'
import { connect } from '../../src/library.js'
import { SkeinError } from '../../src/model/index.js'
import { loadOperation, type OperationName, queryOf } from '../../src/operations/index.js'
import { endAgents } from '../cli/agent-prelude.js'
import { type } from '../cli/typed.js'
import { agentsUnder, buildWorld, copyWorld, daemonUnder, profilesUnder, scratch } from '../cli/world.js'

/** What came of an operation: its result, or its error. */
export type Answer = { result: unknown } | { error: { code: string; message: string; next: string } }

/** One way to run operations, in a world of its own. All worlds begin alike and see the same operations in the same order. */
export interface World {
  readonly face: string
  readonly root: string
  /** Types a command into this world, to have something to operate on. */
  skein(...args: string[]): Promise<string>
  run(name: OperationName, input: Readonly<Record<string, unknown>>, words: readonly string[]): Promise<Answer>
}

/** The command line without a daemon, the command line with one, HTTP as any program speaks it, and the client. */
export async function worlds(): Promise<World[]> {
  const at = scratch()
  await buildWorld(join(at.path, 'master'))
  const faces = ['command', 'command with daemon', 'http', 'client'] as const
  const all = faces.map((face) => ({ face, root: join(at.path, face.replaceAll(' ', '-')) }))
  for (const { root } of all) copyWorld(join(at.path, 'master'), root)
  onTestFinished(async () => {
    for (const { root } of all) {
      await stopDaemon(accessTo(daemonUnder(root), 'default')).catch(() => undefined)
      endAgents(root)
    }
    at[Symbol.dispose]()
  })
  return all.map(({ face, root }) => world(face, root))
}

function world(face: 'command' | 'command with daemon' | 'http' | 'client', root: string): World {
  const outside = {
    profiles: profilesUnder(root),
    agents: agentsUnder(root),
    daemon: daemonUnder(root),
    privacyFile: join(root, 'privacy.yaml'),
    cwd: root,
    now: Date.now,
  }
  const running = (): Promise<DaemonClient> =>
    ensureDaemon(accessTo(daemonUnder(root), 'default')).then(({ client }) => client)
  return {
    face,
    root,
    skein: async (...args) => {
      const { stdout, stderr, exitCode } = await type(args, outside)
      if (exitCode !== 0) throw new Error(`skein ${args.join(' ')}: ${stderr}`)
      return stdout
    },
    run: async (name, input, words) => {
      switch (face) {
        case 'command':
          return typed(await type([...words, '--json'], outside)) // its settings start no daemon
        case 'command with daemon':
          await running()
          return typed(await type([...words, '--json'], outside))
        case 'http':
          return asked((await running()).record.socket, name, input)
        case 'client':
          await running()
          return Promise.resolve(connect({ home: root, profile: 'default', actor: 'ada' }))
            .then((client) => client?.call(name, input as never, { timeoutMs: 60_000 }))
            .then((result) => ({ result }), thrown)
      }
    },
  }
}

/** What a command printed: one document, or one per line. */
function typed({ stdout, stderr }: { stdout: string; stderr: string }): Answer {
  if (stdout !== '') return { result: document(stdout) }
  const { error } = JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? '') as { error: Error_ }
  return { error: facts(error) }
}

function document(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    const lines = text.trimEnd().split('\n')
    return lines.map((line) => JSON.parse(line) as unknown)
  }
}

async function asked(
  socketPath: string,
  name: OperationName,
  input: Readonly<Record<string, unknown>>,
): Promise<Answer> {
  const { does } = await loadOperation(name)
  const path = does === 'reads' ? `/v1/${name}?${queryOf(input)}` : `/v1/${name}`
  return new Promise((resolve, reject) => {
    const method = does === 'reads' ? 'GET' : 'POST'
    const sent = request(
      { socketPath, method, path, agent: false, headers: { 'x-skein-actor': 'ada' } },
      (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
        response.on('end', () => {
          const body = JSON.parse(text)
          resolve((response.statusCode ?? 0) < 400 ? { result: body } : { error: facts(body.error) })
        })
      },
    )
    sent.on('error', reject)
    sent.end(does === 'reads' ? undefined : JSON.stringify(input))
  })
}

interface Error_ {
  code: string
  message: string
  next: string
}

function thrown(error: unknown): Answer {
  if (error instanceof SkeinError) return { error: facts(error) }
  throw error
}

const facts = ({ code, message, next }: Error_): Error_ => ({ code, message, next })
