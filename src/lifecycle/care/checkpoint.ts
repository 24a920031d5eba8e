import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { explainDiskError, makeDirectory, readGuarded, writeAtomic } from '../../disk/index.js'
import { keptWords } from '../../home/index.js'
import { type Agent, type Instant, instantOf, isActive, msOf, readJson, SkeinError, shapes } from '../../model/index.js'
import { liveRun } from '../agent-run.js'
import { CHECKPOINT_FILE } from '../agent-runs.js'
import { GASTOWN_CHECKPOINT, gitState } from '../handoff/git-state.js'
import type { Parts } from '../parts.js'

const { isObject, misfit, shape, text, texts, time } = shapes

/** How far an agent came, for the session after one that crashed. */
export interface Checkpoint {
  molecule_id?: string
  current_step?: string
  step_title?: string
  modified_files?: string[]
  last_commit?: string
  branch?: string
  hooked_bead?: string
  timestamp: Instant
  session_id?: string
  notes?: string
}

/** What whoever writes one knows better than what can be found out. */
export type CheckpointNotes = Pick<Checkpoint, 'molecule_id' | 'current_step' | 'step_title' | 'notes'>

/** Older ones say nothing about the work any more. */
const STALE_MS = 24 * 3_600_000
const MOST_BYTES = 1024 * 1024
const MOST_FILES = 200

const FIELDS = new Set(
  ['molecule_id', 'current_step', 'step_title', 'modified_files', 'last_commit', 'branch', 'hooked_bead'].concat([
    'session_id',
    'notes',
  ]),
)

const CHECKPOINT = shape({
  timestamp: time,
  'molecule_id?': text,
  'current_step?': text,
  'step_title?': text,
  'modified_files?': texts,
  'last_commit?': text,
  'branch?': text,
  'hooked_bead?': text,
  'session_id?': text,
  'notes?': text,
})

/** The newest checkpoint of an agent, its own or Gas Town's; undefined when there is none, or it is older than a day. */
export function checkpointFor(
  { runs, context }: Pick<Parts, 'runs' | 'context'>,
  agent: Pick<Agent, 'id'>,
  cwd: string | undefined,
): Checkpoint | undefined {
  const paths = [join(runs.directoryOf(agent.id), CHECKPOINT_FILE), ...(cwd ? [join(cwd, GASTOWN_CHECKPOINT)] : [])]
  const found = paths.flatMap((path) => readCheckpoint(path) ?? [])
  const fresh = found.filter(({ timestamp }) => context.clock.now() - msOf(timestamp) < STALE_MS)
  return fresh.sort((a, b) => msOf(b.timestamp) - msOf(a.timestamp))[0]
}

/** Undefined for a file that is none: a checkpoint is a help, and nothing fails for want of one. */
function readCheckpoint(path: string): Checkpoint | undefined {
  try {
    const value = readJson(readGuarded(path, { mostBytes: MOST_BYTES }).toString('utf8'))
    if (!isObject(value)) return undefined
    // Gas Town writes empty fields, null for a list, and fractions of a second that no other time of ours has.
    const said = Object.entries(value).filter(([, one]) => one !== '' && one !== null)
    const known = Object.fromEntries(said.filter(([name]) => FIELDS.has(name)))
    const atMs = Date.parse(String(value.timestamp))
    const checkpoint = { ...known, timestamp: Number.isNaN(atMs) ? value.timestamp : instantOf(atMs) }
    return misfit(checkpoint, CHECKPOINT) === undefined ? (checkpoint as Checkpoint) : undefined
  } catch {
    return undefined
  }
}

/** Writes down where an agent is: its session, its step, what is on its hook, and what git says. The notes have been filtered. */
export async function writeCheckpoint(parts: Parts, agent: Agent, given: CheckpointNotes = {}): Promise<Checkpoint> {
  const { home, runs, context, environment } = parts
  const run = await runs.read(agent.id)
  const cwd = run?.recipe.cwd ?? agent.project_path
  const session = run?.binding && (await home.sessions.get(run.binding.session))
  const [git, hooked] = await Promise.all([
    cwd === undefined ? undefined : gitState(cwd, environment.env),
    home.work.hooked({ address: agent.address, id: agent.id }).catch(noWork),
  ])
  const repository = git && !('problem' in git) ? git : undefined
  const bead = hooked?.work[0]?.id ?? run?.recipe.work
  const changed = repository && [...repository.changed.map(({ path }) => path), ...repository.untracked]
  const files = changed?.filter((path) => path !== GASTOWN_CHECKPOINT)
  const { notes } = await keptWords(given.notes === undefined ? {} : { notes: given.notes }, home)
  const checkpoint: Checkpoint = {
    ...(session?.molecule_id ? { molecule_id: session.molecule_id } : {}),
    ...(session?.step_ref ? { current_step: session.step_ref } : {}),
    ...given,
    ...(files ? { modified_files: files.slice(0, MOST_FILES) } : {}),
    ...(repository?.head ? { last_commit: repository.head } : {}),
    ...(repository?.branch ? { branch: repository.branch } : {}),
    ...(bead ? { hooked_bead: bead } : {}),
    timestamp: instantOf(context.clock.now()),
    ...(run?.binding ? { session_id: run.binding.session } : {}),
    ...(notes === undefined ? {} : { notes }),
  }
  const text = `${JSON.stringify(checkpoint, undefined, 1)}\n`
  save(runs.directoryOf(agent.id), CHECKPOINT_FILE, text)
  if (cwd !== undefined && (await home.programs.roles()).preset === 'gastown') save(cwd, GASTOWN_CHECKPOINT, text)
  return checkpoint
}

/**
 * The same at the end of a turn, by itself. What somebody has noted in this session is kept. Nothing is written for an agent that does not
 * run, or whose session is over: `done` has cleared its checkpoint.
 */
export async function writeTurnCheckpoint(parts: Parts, agent: Agent): Promise<void> {
  const run = await parts.runs.read(agent.id)
  const session = run?.binding && (await parts.home.sessions.get(run.binding.session))
  if (!run || !liveRun(run) || (session && !isActive(session))) return
  const before = readCheckpoint(join(parts.runs.directoryOf(agent.id), CHECKPOINT_FILE))
  const own = before?.session_id === run.binding?.session ? before : undefined
  const { notes, current_step, step_title, molecule_id } = own ?? {}
  const isSameStep = session?.step_ref === undefined || session.step_ref === current_step
  const step = { current_step, step_title, molecule_id }
  const given = { notes, ...(isSameStep ? step : {}) }
  await writeCheckpoint(
    parts,
    agent,
    Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
  )
}

function save(directory: string, name: string, text: string): void {
  try {
    makeDirectory(directory)
    writeAtomic(join(directory, name), text, { durable: true })
  } catch (error) {
    throw explainDiskError(error, join(directory, name))
  }
}

/** Work that is kept elsewhere may not be reachable; the rest is known all the same. */
function noWork(error: unknown): undefined {
  if (!(error instanceof SkeinError)) throw error
  return undefined
}

/** Removes the checkpoint of an agent; false when there was none. */
export async function clearCheckpoint(parts: Parts, agent: Agent): Promise<boolean> {
  const cwd = (await parts.runs.read(agent.id))?.recipe.cwd ?? agent.project_path
  const had = checkpointFor(parts, agent, cwd) !== undefined
  rmSync(join(parts.runs.directoryOf(agent.id), CHECKPOINT_FILE), { force: true })
  const isGastown = (await parts.home.programs.roles()).preset === 'gastown'
  if (cwd !== undefined && isGastown) rmSync(join(cwd, GASTOWN_CHECKPOINT), { force: true })
  return had
}
