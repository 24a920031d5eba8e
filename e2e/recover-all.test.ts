import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { isObject, type JsonObject, listAt } from '../src/tools/json-value.js'
import { type Skein, until } from './skein.js'
import { claude } from './tools/claude.js'
import { codex } from './tools/codex.js'
import { REAL_TOOLS } from './tools/index.js'
import { User } from './user.js'

/** All five programs and thirty scripted agents take minutes. */
const IS_FULL = process.env.SKEIN_RECOVER_ALL !== undefined
const TOOLS = IS_FULL ? REAL_TOOLS : [claude, codex]
const TIMEOUT_MS = IS_FULL ? 1_500_000 : 300_000
const SCRIPTED = IS_FULL ? 30 : 6
const REAL = TOOLS.map(({ name }) => `real/${name}`)
const HERD = Array.from({ length: SCRIPTED }, (_, at) => `herd/a${String(at).padStart(2, '0')}`)
const ALL = [...HERD, ...REAL]
const SCRIPT = {
  rules: [
    { when: /^remember/, steps: [{ text: 'I will remember it.' }] },
    { when: /.*/, steps: [{ text: 'Here it is.' }] },
  ],
}

/**
 * A program with conversations that costs little: a first run names a conversation, every other one resumes it. Each line that it is given
 * is a turn, which it adds to the file of its conversation and answers with the number of turns.
 */
const PROGRAM = (root: string): string => `#!/bin/sh
if [ "$1" = --json ]; then
  echo "{\\"session_id\\":\\"$(cat /proc/sys/kernel/random/uuid)\\"}"
  exit 0
fi
log='${root}/'"$2"
echo "$2 $$" >> '${root}/resumed'
printf '> '
while read -r line; do
  echo "$line" >> "$log"
  printf 'turn %s\\n> ' "$(wc -l < "$log")"
done
`

const SETTINGS = (program: string): string => `[daemon]
ingest = false
[notify]
by = []
[recover]
spacing = 0
[watchdog]
respawn = "never"
[tools.scripted]
command = "${program}"
resume_flag = "--resume"
output_format_flag = "--json"
session_id_json_path = ".session_id"
idle_patterns = ["re:^>"]
`

interface Process {
  pid: number
  name: string
  /** Which run of an agent it belongs to. */
  run?: string
}

it(
  `${SCRIPTED} scripted agents and one each of ${TOOLS.map(({ name }) => name).join(', ')} come back after every disaster, each in its own conversation, none twice`,
  async () => {
    await using user = await User.of(TOOLS, {
      script: SCRIPT,
      settings: (scratch) => {
        const program = scratch.write('scripted/program', PROGRAM(scratch.path('scripted')))
        chmodSync(program, 0o700)
        return [SETTINGS(program)]
      },
    })
    const { skein, scratch, server } = user
    const processes = (): Process[] => scratch.processes().flatMap(processOf)
    const kill = (isWanted: (one: Process) => boolean): void => processes().filter(isWanted).forEach(killed)
    const tmux = (): void => killed({ pid: serverOf(scratch.path('skein/tmux.sock')) })
    /** By the number that it has on record: it is started without what marks the processes of a test. */
    const daemon = async (): Promise<void> => {
      const pid = await daemonOf(skein)
      process.kill(pid, 'SIGKILL')
      await until('the daemon is gone', () => !existsSync(`/proc/${pid}`))
    }
    const DISASTERS: readonly [string, () => Promise<void> | void, isDown: boolean][] = [
      ['tmux server killed', tmux, true],
      ['daemon killed', daemon, false],
      [
        'both killed',
        async () => {
          await daemon()
          tmux()
        },
        true,
      ],
      ['every child process killed', () => kill(({ run }) => run !== undefined), true],
    ]

    await Promise.all([herdAtWork(skein), ...TOOLS.map((tool, at) => realAtWork(user, REAL[at] ?? '', tool))])
    const sessions = await sessionsOf(skein)
    expect(new Set(sessions.values()).size).toBe(ALL.length)

    const saidIn = (address: string): string[] => linesIn(scratch.path('scripted'), String(sessions.get(address)))
    const untilSaid = (all: ReadonlyMap<string, readonly string[]>): Promise<void> =>
      until('every prompt has arrived', () => HERD.every((one) => saidIn(one).length >= (all.get(one)?.length ?? 0)))
    const table: string[] = []
    const turns = new Map<string, string[]>(ALL.map((address) => [address, [`remember ${address}`]]))
    await untilSaid(turns)
    for (const [what, strike, isDown] of DISASTERS) {
      const before = resumedIn(scratch.path('scripted')).length
      await strike()
      if (isDown) await untilDown(skein)
      const from = performance.now()
      const receipts = listAt(await skein.run('recover', '--all'), 'receipts').filter(isObject)
      const tookMs = performance.now() - from
      const wanted = isDown ? ALL.map((address) => [address, 'resumed', sessions.get(address)]) : []
      expect([what, rowsOf(receipts)]).toEqual([what, wanted])
      expect([what, resumedIn(scratch.path('scripted')).slice(before).sort()]).toEqual([
        what,
        isDown ? HERD.map((address) => sessions.get(address)).sort() : [],
      ])
      expect([what, await sessionsOf(skein)]).toEqual([what, sessions])

      // Each is asked again, and knows all that was said before.
      for (const address of ALL) turns.get(address)?.push(`${address}, after: ${what}`)
      await Promise.all([askHerd(skein, turns), ...REAL.map((address) => askReal(user, address, turns))])
      await untilSaid(turns)
      for (const address of HERD) expect([what, saidIn(address)]).toEqual([what, turns.get(address)])
      for (const address of REAL) {
        const said = turns.get(address) ?? []
        const requests = server.requests.filter(({ prompt }) => prompt === said.at(-1))
        expect([what, address, requests.map(({ prompts }) => prompts)]).toEqual([what, address, [said]])
      }
      expect([what, await sessionsOf(skein)]).toEqual([what, sessions])

      // One run each, and nothing of an earlier one.
      const live = await Promise.all(ALL.map((address) => runOf(skein, address)))
      const runs = new Set(processes().flatMap(({ run }) => run ?? []))
      expect([what, runs.size, [...runs].sort()]).toEqual([what, ALL.length, live.sort()])
      expect([what, listAt(await skein.run('recover', '--all'), 'receipts')]).toEqual([what, []])
      const count = (outcome: string): number => receipts.filter((one) => one.outcome === outcome).length
      table.push(
        `${what.padEnd(28)} ${isDown ? ALL.length : 0} down, ${receipts.length} receipts: ${count('resumed')} resumed, ${count('fresh')} fresh, ${count('refused')} refused; ${runs.size} runs, ${Math.round(tookMs)} ms`,
      )
    }
    const deaths = (await skein.events('session_death')).length
    expect(deaths).toBe(ALL.length * 3)
    console.info([...table, `${deaths} deaths in the journal`].join('\n'))
  },
  TIMEOUT_MS,
)

/** A few at a time, so that the real programs are not starved meanwhile. */
async function herdAtWork(skein: Skein): Promise<void> {
  for (const address of HERD) {
    await skein.run('start', '.', '--agent', address, '--tool', 'scripted')
    await skein.run('send', address, `remember ${address}`)
  }
}

async function realAtWork(user: User, address: string, tool: (typeof TOOLS)[number]): Promise<void> {
  await user.agentAtWork(address, tool, { prompt: `remember ${address}` })
}

async function askHerd(skein: Skein, turns: ReadonlyMap<string, readonly string[]>): Promise<void> {
  for (const address of HERD) await skein.run('send', address, turns.get(address)?.at(-1) ?? '')
}

const ASKABLE = new Set(['idle', 'waiting'])

async function askReal({ skein }: User, address: string, turns: ReadonlyMap<string, readonly string[]>): Promise<void> {
  const isAskable = async (): Promise<boolean> => ASKABLE.has(String((await skein.agent(address)).status))
  await until(`${address} can be asked`, isAskable, 60_000, () => skein.explained(address))
  await skein.run('send', address, turns.get(address)?.at(-1) ?? '', '--wait', '--timeout', '60s')
}

async function untilDown(skein: Skein): Promise<void> {
  const areDown = async (): Promise<boolean> => {
    const { agents } = await listed(skein)
    return ALL.every((address) => agents.get(address)?.status === 'error')
  }
  await until('all are down', areDown, 60_000)
}

async function daemonOf(skein: Skein): Promise<number> {
  const { pid } = await skein.run('daemon', 'status')
  if (typeof pid !== 'number') throw new Error('No daemon runs')
  return pid
}

async function listed(skein: Skein): Promise<{ agents: Map<string, JsonObject> }> {
  const found = listAt(await skein.run('list', '--all'), 'agents').filter(isObject)
  return { agents: new Map(found.map((one) => [String(one.address), one])) }
}

async function sessionsOf(skein: Skein): Promise<Map<string, string>> {
  const { agents } = await listed(skein)
  return new Map(ALL.map((address) => [address, String(agents.get(address)?.session_id)]))
}

/** The run that the agent has by its own file. */
async function runOf(skein: Skein, address: string): Promise<string> {
  const { pid } = await skein.agent(address)
  return runIn(Number(pid)) ?? `${address} does not run`
}

/** As address, outcome and session, in the order of `ALL`. */
function rowsOf(receipts: readonly JsonObject[]): (string | undefined)[][] {
  const row = ({ agent, outcome, session_id }: JsonObject): string[] => [
    String(isObject(agent) && agent.address),
    String(outcome),
    String(session_id),
  ]
  return receipts.map(row).sort(([a = ''], [b = '']) => (a < b ? -1 : 1))
}

function processOf(line: string): Process[] {
  const pid = Number(line.split(' ', 1)[0])
  const run = runIn(pid)
  return [{ pid, name: line.slice(String(pid).length + 1), ...(run ? { run } : {}) }]
}

function runIn(pid: number): string | undefined {
  try {
    const variables = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
    return variables.find((one) => one.startsWith('SKEIN_RUN='))?.slice('SKEIN_RUN='.length)
  } catch {
    return undefined // it has ended
  }
}

function killed({ pid }: Pick<Process, 'pid'>): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended with its parent.
  }
}

const serverOf = (socket: string): number =>
  Number(execFileSync('tmux', ['-S', socket, 'display-message', '-p', '#{pid}']))

function linesIn(root: string, name: string): string[] {
  if (!readdirSync(root).includes(name)) return []
  const lines = readFileSync(`${root}/${name}`, 'utf8').split('\n')
  return lines.filter((line) => line !== '')
}

/** Which conversations of scripted agents were resumed, in order. */
const resumedIn = (root: string): string[] => linesIn(root, 'resumed').map((line) => line.split(' ')[0] ?? '')
