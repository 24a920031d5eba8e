// A made-up past of any size, the same for the same numbers: journal segments written directly, as Skein would have.
import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'

const TOOLS = ['claude', 'codex', 'gemini', 'opencode', 'pi']
const ROLES = ['polecat', 'crew', 'witness', 'refinery']
const OUTCOMES = ['done', 'handoff', 'crash', 'killed', 'exit']
const WORDS =
  'login parser cache index retry socket schema layout prompt report search deploy metric buffer worker queue'.split(
    ' ',
  )
const SEGMENT_BYTES = 8 * 1024 * 1024

/** Small and repeatable; quality does not matter here. */
function generator(seed) {
  let state = seed >>> 0 || 1
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state % below
  }
}

const hex = (value, digits) => value.toString(16).padStart(digits, '0')

/**
 * About `eventsPerSession` events per session: start, two steps, an update, end. One session in four continues the one
 * before it, one in fifty forks it. Times end at `endMs`, a second apart.
 */
export function writeJournal(home, { sessions, endMs = Date.UTC(2026, 10, 1), eventsPerSession = 4, seed = 1 }) {
  const directory = join(home, 'profiles', 'default', 'events')
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const random = generator(seed)
  let segment = 1
  let size = 0
  let file = openSync(join(directory, '00000001.jsonl'), 'a', 0o600)
  let pending = []
  let pendingBytes = 0
  let count = 0
  const flush = () => {
    if (pending.length > 0) writeSync(file, pending.join(''))
    size += pendingBytes
    pending = []
    pendingBytes = 0
  }
  const write = (ms, type, session, agent, payload) => {
    const id = `${hex(ms, 12).slice(0, 8)}-${hex(ms, 12).slice(8)}-7${hex(count % 4096, 3)}-8000-${hex(count, 12)}`
    const line = `${JSON.stringify({ id, ts: new Date(ms).toISOString(), type, actor: 'bench', session, agent, payload, visibility: 'both', host: 'bench' })}\n`
    count += 1
    pending.push(line)
    pendingBytes += line.length
    if (pendingBytes > 256 * 1024) flush()
    if (size >= SEGMENT_BYTES) {
      closeSync(file)
      segment += 1
      size = 0
      file = openSync(join(directory, `${String(segment).padStart(8, '0')}.jsonl`), 'a', 0o600)
    }
  }
  let before
  for (let n = 0; n < sessions; n += 1) {
    const ms = endMs - (sessions - n) * 1000
    const at = (offset) => new Date(ms + offset).toISOString()
    const id = `${hex(Math.imul(n + 1, 2654435761) >>> 0, 8)}-0000-4000-8000-${hex(n, 12)}`
    const agent = `rig${random(5)}/team${random(4)}/agent${random(3)}`
    const continues = before && n % 4 === 3
    const forks = before && !continues && n % 50 === 0
    const chain = continues ? before.chain : id
    write(ms, 'session_start', id, agent, {
      tool: TOOLS[random(TOOLS.length)],
      title: `${WORDS[random(WORDS.length)]} ${WORDS[random(WORDS.length)]} ${hex(n, 5)}`,
      agent,
      rig: agent.split('/')[0],
      role: ROLES[random(ROLES.length)],
      work_unit: `w-${n >> 2}`,
      cwd: '/home/dev/src/project',
      branch: 'main',
      started_at: at(0),
      chain_id: chain,
      ...(continues ? { parent_id: before.id, link: 'handoff' } : {}),
      ...(forks ? { forked_from: { session: before.id, turn: 3 } } : {}),
    })
    for (let step = 0; step < eventsPerSession - 2; step += 1) {
      const isStart = step % 2 === 0
      const step_ref = `step.${step >> 1}`
      const payload = isStart
        ? { step_ref, started_at: at(100 + step) }
        : { step_ref, completed_at: at(100 + step), success: true }
      write(ms + 100 + step, isStart ? 'session_step_started' : 'session_step_completed', id, agent, payload)
    }
    if (n % 4 !== 2 && n % 40 !== 1)
      write(ms + 900, 'session_end', id, agent, { outcome: OUTCOMES[random(OUTCOMES.length)], ended_at: at(900) })
    before = { id, chain }
  }
  flush()
  closeSync(file)
  return count
}
