import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { isObject, type JsonObject, listAt } from '../src/tools/json-value.js'
import { Skein, until } from './skein.js'
import { claude } from './tools/claude.js'
import { codex } from './tools/codex.js'
import { REAL_TOOLS } from './tools/index.js'
import type { RealTool } from './tools/real-tool.js'
import { User } from './user.js'

/** Two in one directory, one that runs its own program without a terminal, and one whose user begins another conversation. */
const AGENTS = ['web/cleared', 'web/one', 'web/parent', 'web/two'] as const
/** Four programs of each, started three times: all five tools take minutes. */
const TESTED = process.env.SKEIN_ALL_TOOLS ? REAL_TOOLS : [claude, codex]
/** Limits for what hangs. Twelve starts of a program that takes ten seconds of the processor each take minutes on a busy machine. */
const READY_MS = 180_000
const LIMIT = { timeout: 900_000 }
const SECOND = 'remember the second conversation'
const ASKABLE = new Set(['idle', 'waiting'])
const CHILD = 'child: remember the number 999'
/** How each program is run without a terminal, as somebody types it in a shell. */
const PRINT: Readonly<Record<string, string>> = {
  claude: `claude -p '${CHILD}'`,
  codex: `codex exec '${CHILD}'`,
  gemini: `gemini -p '${CHILD}'`,
  opencode: `opencode run '${CHILD}'`,
  pi: `pi -p '${CHILD}'`,
}
const SCRIPT = {
  rules: [
    { when: /child:/, steps: [{ text: 'I am the child.' }] },
    { when: /remember/, steps: [{ text: 'I will remember it.' }] },
    { when: /.*/, steps: [{ text: 'Here it is.' }] },
  ],
}
const SETTINGS = `[daemon]\ningest = false\n[notify]\nby = []\n[recover]\nspacing = 0\n[watchdog]\nrespawn = "never"\n`

it.concurrent.each(TESTED)(
  'no agent of $name $version resumes the conversation of another: two in one directory, a child print run, a new conversation, a copied home, a duplicated id',
  LIMIT,
  async (tool) => {
    await using user = await User.of([tool], { script: SCRIPT, settings: () => [SETTINGS] })
    const { skein, scratch } = user
    // Then a child reports too. Codex asks about hooks that it has not seen before.
    if (tool.name !== 'codex') await skein.run('hooks', 'install', tool.name)
    const said = new Map<string, string>(AGENTS.map((address) => [address, `remember ${address}`]))
    for (const [address, prompt] of said) await user.agentAtWork(address, tool, { prompt })
    await runChild(user, tool)
    await beginAnother(skein, tool)
    await skein.run('send', 'web/cleared', SECOND, '--wait', '--timeout', '60s')
    said.set('web/cleared', SECOND)
    const sessions = await sessionsOf(skein)
    expect(new Set(sessions.values()).size).toBe(AGENTS.length)
    const all = (outcome: string): string[][] => AGENTS.map((one) => [one, outcome, sessions.get(one) ?? ''])

    await killTmux(user)
    expect(outcomes(await skein.run('recover'))).toEqual(all('resumed'))
    await expectOwn(user, said, 'where was I?')
    expect(await sessionsOf(skein)).toEqual(sessions)

    // A copy of the home, first while the agents of the original run, then while they are down.
    const asked = user.server.allRequests.length
    const home = scratch.path('copy')
    cpSync(scratch.path('skein'), home, { recursive: true, filter: (path) => !path.endsWith('.sock') })
    const copy = new Skein(scratch, user.env, undefined, scratch.project, home)
    expect(outcomes(await copy.run('recover')).filter(([, outcome]) => outcome === 'resumed')).toEqual([])
    await killTmux(user)
    const refused = await copy.failing('recover')
    expect(outcomes(refused)).toEqual(all('refused'))
    expect(JSON.stringify(refused)).toContain('This home is a copy of')
    expect(user.server.allRequests.slice(asked)).toEqual([])
    await copy.run('daemon', 'stop')

    // The file of one agent names the conversation of another.
    const [one = '', two = ''] = ['web/one', 'web/two'].map((address) => sessions.get(address))
    await endOutliving(skein)
    await skein.run('daemon', 'stop') // it writes these files, too
    giveSession(user, two, one)
    const took = ([address = '', outcome = '', session = '']: string[]): string[] =>
      address === 'web/two' ? [address, 'refused', one] : [address, outcome, session]
    const last = await skein.failing('recover')
    expect(outcomes(last), JSON.stringify(last)).toEqual(all('resumed').map(took))
    said.delete('web/two')
    await expectOwn(user, said, 'where am I?')
  },
)

/** Types the program's own name into the shell of the agent's input line, as a user does. */
async function runChild({ skein, scratch, server, env }: User, tool: RealTool): Promise<void> {
  // Some programs give their shell another environment than they have.
  const variables = Object.entries(env).map(([name, value]) => `export ${name}='${value}'\n`)
  const path = scratch.write('project/kid', `#!/bin/sh\n${variables.join('')}exec ${PRINT[tool.name]} </dev/null\n`)
  chmodSync(path, 0o700)
  await skein.run('keys', 'web/parent', '!')
  for (const key of './kid') await skein.run('keys', 'web/parent', key)
  await skein.run('keys', 'web/parent', 'Enter')
  const hasAsked = (): boolean => server.requests.some(({ prompt }) => prompt.includes(CHILD))
  const screen = async (): Promise<string> => String((await skein.run('output', 'web/parent', '--screen')).text)
  await until('the child has asked the model', hasAsked, 60_000, screen)
  await until('the child has answered', async () => (await screen()).includes('I am the child.'), 60_000, screen)
  const isQuiet = async (): Promise<boolean> => (await skein.agent('web/parent')).status !== 'running'
  await until('its parent is quiet', isQuiet, 60_000, screen)
}

async function beginAnother(skein: Skein, { another }: RealTool): Promise<void> {
  await skein.types('web/cleared', another.command)
  if (another.asksWhere) {
    await skein.listed('web/cleared', { status: 'waiting', waiting_for: 'question' })
    await skein.run('keys', 'web/cleared', 'Enter')
  }
  await skein.listed('web/cleared', { status: 'idle' })
}

async function killTmux({ skein, scratch }: User): Promise<void> {
  const server = execFileSync('tmux', ['-S', scratch.path('skein/tmux.sock'), 'display-message', '-p', '#{pid}'])
  process.kill(Number(server), 'SIGKILL')
  for (const address of AGENTS) await skein.listed(address, { status: 'error' })
}

/** Asks every agent, and looks at what the model was sent: all of its own conversation and nothing of another. */
async function expectOwn({ skein, server }: User, said: ReadonlyMap<string, string>, words: string): Promise<void> {
  for (const address of said.keys()) {
    const isAskable = async (): Promise<boolean> => ASKABLE.has(String((await skein.agent(address)).status))
    await until(`${address} can be asked`, isAskable, READY_MS, () => skein.explained(address))
    await skein.run('send', address, `${address}: ${words}`, '--wait', '--timeout', '110s')
  }
  for (const [address, prompt] of said) {
    const requests = server.requests.filter((request) => request.prompt === `${address}: ${words}`)
    // What a shell command of the user printed is no prompt, though some programs send it as one.
    const remembered = requests.map(({ prompts }) => prompts.filter((one) => /^"?remember/.test(one)))
    expect([address, remembered]).toEqual([address, [[prompt]]])
  }
}

/** Some programs outlive their tmux server for a while. As long as both run that claim one conversation, both are refused. */
async function endOutliving(skein: Skein): Promise<void> {
  for (const address of AGENTS) {
    const { pid, reason } = await skein.agent(address)
    if (String(reason).includes(`process ${pid} still runs`)) process.kill(Number(pid), 'SIGKILL')
  }
  const isOver = async (address: string): Promise<boolean> =>
    !String((await skein.agent(address)).reason).includes('still runs')
  for (const address of AGENTS) await until(`${address} has ended`, () => isOver(address), 60_000)
}

async function sessionsOf(skein: Skein): Promise<Map<string, string>> {
  const listed = await Promise.all(AGENTS.map((address) => skein.agent(address)))
  return new Map(listed.map(({ address, session_id }) => [String(address), String(session_id)]))
}

/** As address, outcome and session, in the order of `AGENTS`. */
function outcomes(recovered: JsonObject): string[][] {
  const receipts = listAt(recovered, 'receipts').filter(isObject)
  const row = ({ agent, outcome, session_id }: JsonObject): string[] => [
    String(isObject(agent) && agent.address),
    String(outcome),
    String(session_id),
  ]
  return receipts.map(row).sort(([a = ''], [b = '']) => (a < b ? -1 : 1))
}

/** Writes the id of another conversation into the file of the agent that has this one. */
function giveSession({ scratch }: User, from: string, to: string): void {
  const folder = scratch.path('skein/profiles/default/agents')
  for (const name of readdirSync(folder).filter((one) => one.endsWith('.json'))) {
    const path = `${folder}/${name}`
    const run: { binding?: { session: string } } = JSON.parse(readFileSync(path, 'utf8'))
    if (run.binding?.session === from)
      writeFileSync(path, JSON.stringify({ ...run, binding: { ...run.binding, session: to } }))
  }
}
