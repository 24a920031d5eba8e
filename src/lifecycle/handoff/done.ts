import { type ProgramEnd, refuseDeadDirectory, runBounded } from '../../disk/index.js'
import { knownUnits, type OnDone } from '../../home/index.js'
import {
  type Agent,
  type ClosedStatus,
  formatDuration,
  isActive,
  plainLine,
  type SessionId,
  SkeinError,
} from '../../model/index.js'
import type { AgentRun } from '../agent-run.js'
import { clearCheckpoint } from '../care/checkpoint.js'
import type { Parts } from '../parts.js'
import { isPassedOn } from '../run/launch-environment.js'
import { addressOf } from './handoff.js'

const OUTPUT_MOST = 64 * 1024 * 1024

export interface DoneOptions {
  status?: ClosedStatus
  reason?: string
}

/** What was done with the work of an agent, before its process is ended. */
export interface Finished {
  /** Everything was done before: nothing was changed. */
  wasDone: boolean
  session?: SessionId
  closed: string[]
  /** How the work was submitted; undefined when nothing was. */
  submitted?: string
}

/**
 * Closes an agent's work, ends its session with the outcome `done`, reads its log and clears its hook. Done twice, the second time changes
 * nothing. When the command that submits the work fails, nothing is closed.
 */
export async function finishWork(
  parts: Parts,
  agent: Agent,
  { status = 'done', reason }: DoneOptions = {},
): Promise<Finished> {
  const { home } = parts
  using _finishing = await parts.runs.hold(agent.id, 'handoff')
  const onDone = status === 'done' ? await home.programs.onDone() : undefined
  const run = await parts.runs.read(agent.id)
  const session = run?.binding?.session
  const self = addressOf(agent)
  const hooked = await home.work.hooked(self)
  const work = knownUnits(hooked)
  const told = { closed: [], ...(session ? { session } : {}) }
  if (work.length + hooked.mail.length === 0 && (await wasFinished(parts, agent, run)))
    return { wasDone: true, ...told }
  const cwd = run?.recipe.cwd ?? agent.project_path
  const submitted = onDone && cwd !== undefined ? await submit(parts, agent, session, onDone, cwd) : undefined
  // A daemon may never have run: what was said is kept all the same.
  if (session) await home.history.ingest({ session, tool: run.recipe.tool }).catch(tolerated)
  const given = { status, ...(reason ? { reason } : {}), ...(session ? { session } : {}) }
  for (const { id } of work) await home.work.close(id, given)
  for (const { id } of hooked.mail) await home.work.settleMail(id, session ? { session } : {})
  const closed = work.map(({ id }) => id)
  const payload = { status, work: closed, ...(reason ? { reason } : {}) }
  await home.events.append({ type: 'done', agent: agent.address, ...(session ? { session } : {}), payload })
  const known = session && (await home.sessions.get(session))
  if (known && isActive(known))
    await home.sessions.end(known.id, { outcome: 'done', reason: reason ?? `work ${status}` })
  await parts.runs.update(agent, (current) => {
    if (!current?.handoff) return undefined
    const { handoff: _marker, ...next } = current
    return { next, result: undefined }
  })
  await clearCheckpoint(parts, agent)
  return { wasDone: false, ...told, closed, ...(submitted ? { submitted } : {}) }
}

/** Whether an agent with an empty hook is done already. One whose session ended otherwise may have been as well, and only an event says it. */
async function wasFinished({ home }: Parts, agent: Agent, run: AgentRun | undefined): Promise<boolean> {
  if (run?.handoff || (run?.run && run.run.ended_at === undefined)) return false
  const session = run?.binding?.session
  const known = session && (await home.sessions.get(session))
  if (known && isActive(known)) return false
  if (known?.outcome === 'done') return true
  const dones = await home.events.read({ type: 'done', agent: agent.address, ...(session ? { session } : {}) })
  return dones.some(({ payload }) => Array.isArray(payload.work)) // the others are of single units
}

/** A tool whose logs are not read has nothing to be ingested. */
function tolerated(error: unknown): void {
  if (!(error instanceof SkeinError)) throw error
}

/** Runs the user's command without a shell, in the agent's directory, and records how it went. */
async function submit(
  parts: Parts,
  agent: Agent,
  session: SessionId | undefined,
  { command: [program = '', ...args], limitMs }: OnDone,
  cwd: string,
): Promise<string> {
  const about = { agent: agent.address, ...(session ? { session } : {}) }
  const told = async (type: 'merge_started' | 'merged' | 'merge_failed', more: object = {}): Promise<void> => {
    await parts.home.events.append({ type, ...about, payload: { program, ...more } })
  }
  refuseDeadDirectory(cwd)
  await told('merge_started')
  const env = Object.fromEntries(Object.entries(parts.environment.env).filter(([name]) => isPassedOn(name)))
  const call = { cwd, env: { ...env, SKEIN_ACTOR: agent.address }, limitMs, mostBytes: OUTPUT_MOST }
  const failed = problemOf(await runBounded(program, args, call), limitMs)
  if (failed === undefined) {
    await told('merged')
    return program
  }
  await told('merge_failed', { reason: failed })
  const next = `Correct it, then: skein done ${agent.address} . Without submitting: remove on_done from [work] in config.toml`
  throw new SkeinError('on-done-failed', `${program} failed: ${failed}. No work was closed`, next)
}

function problemOf(end: ProgramEnd, limitMs: number): string | undefined {
  switch (end.how) {
    case 'late':
      return `it did not end within ${formatDuration(limitMs)} and was ended`
    case 'too-much':
      return 'it printed too much and was ended'
    case 'not-started':
      return plainLine(end.problem, 300)
    case 'exited': {
      if (end.code === 0) return undefined
      const said = `${end.stdout}\n${end.stderr}`.trim().split('\n').at(-1)
      return plainLine(said || (end.code === null ? 'it was killed' : `exit status ${end.code}`), 300)
    }
  }
}
