import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ensureDaemon } from '../../src/daemon/index.js'
import { loadOperation, OPERATION_NAMES } from '../../src/operations/index.js'
import { logOf, PLANTED, SESSION, token } from '../support/planted.js'
import { Herd } from './herd.js'
import { until } from './scratch.js'

/** Where a running agent says something. */
const SAID = {
  'title of the agent': token(),
  'title of the pane': token(),
  'command on the screen': token(),
  'label on the screen': token(),
  'screen of a quiet agent': token(),
  'command in a hook': token(),
  'tool in a hook': token(),
  'path in a hook': token(),
  'question in a hook': token(),
  'option in a hook': token(),
  'plan in a hook': token(),
  'prompt in a hook': token(),
  'reply in a hook': token(),
  'failure in a hook': token(),
  'notification in a hook': token(),
  'end in a hook': token(),
  'directory in a hook': token(),
  'reason of a report': token(),
} as const
const EVERYTHING = { ...PLANTED, ...SAID }

/** What the operations need that cannot be asked without an input. */
const INPUT: Readonly<Record<string, Record<string, unknown>>> = {
  'agents.show': { agent: 'web/kim' },
  'agents.why': { agent: 'web/kim' },
  'agents.output': { agent: 'web/kim' },
  'agents.attach': { agent: 'web/kim' },
  'agents.wait': { agent: ['web/kim'], timeout: '1s' },
  'sessions.chain': { reference: SESSION },
  'sessions.tree': { session: SESSION },
  'sessions.show': { session: SESSION },
  turns: { session: SESSION },
  tools: { session: SESSION },
  search: { text: 'reply' },
  export: { reference: SESSION },
  'archive.restore': { session: SESSION },
  'privacy.check': { directory: '/' },
  'privacy.test': { text: `x ${PLANTED.prompt}` },
  'role.show': { role: 'crew' },
  'tool.show': { tool: 'claude' },
  'tool.test': { tool: 'claude', screen: `❯ ${PLANTED.prompt}` },
  'conversations.show': { key: 'agent:main:discord:dm:ada' },
  'conversations.policy': { key: 'agent:main:discord:dm:ada' },
}
const AGENTS = ['web/kim', 'web/lee', 'web/screen']

/** Names what did not come, which a test's own time-out would not. */
async function come(what: string, look: () => Promise<boolean>): Promise<void> {
  const late = performance.now() + 30_000
  await until(async () => {
    if (performance.now() > late) throw new Error(`this did not come: ${what}`)
    return look()
  })
}

it('no answer over HTTP, no message of the live stream and no file has a secret of a log or of a running agent', async () => {
  const herd = await Herd.make()
  const project = join(herd.root, 'shop')
  const logs = join(herd.root, '.claude', 'projects', '-shop')
  for (const directory of [project, logs]) mkdirSync(directory, { recursive: true })
  execFileSync('git', ['init', '-q', '-b', `fix/${PLANTED['branch of the repository']}`, project])
  writeFileSync(join(logs, `${SESSION}.jsonl`), logOf(project))
  await herd.home.history.ingest()
  await herd.home.sessions.start({ id: 'told', title: PLANTED['session title'], branch: PLANTED['session branch'] })
  await herd.home.events.append({ type: 'mail', payload: { body: PLANTED['event payload'] } })
  const [kim, lee, screen] = [await herd.add('web/kim'), await herd.add('web/lee'), await herd.add('web/screen')]
  await herd.home.roster.update(kim.address, { title: `about ${SAID['title of the agent']}` })
  const { client } = await ensureDaemon(herd.access)

  const answers: [string, string][] = []
  const listening = new AbortController()
  const heard = (async () => {
    for await (const message of client.events({ signal: listening.signal }))
      answers.push(['the live stream', JSON.stringify(message)])
  })()
  await until(() => answers.length > 0)

  const look = async (): Promise<void> => {
    const ask = async (name: string, work: () => Promise<unknown>): Promise<void> => {
      const answer = await work().catch(({ code, message, next, details }) => ({ code, message, next, details }))
      answers.push([name, JSON.stringify(answer)])
    }
    for (const name of OPERATION_NAMES) {
      const { does } = await loadOperation(name)
      if (does !== 'reads') continue
      await ask(name, () => client.call({ name, does }, INPUT[name] ?? {}, { timeoutMs: 60_000 }))
    }
    for (const agent of AGENTS) {
      for (const name of ['agents.why', 'agents.output', 'agents.show'] as const)
        await ask(`${name} ${agent}`, () => client.call({ name, does: 'reads' }, { agent }))
      const path = `/v1/agents/${encodeURIComponent(agent)}`
      for (const one of [path, `${path}/why`]) await ask(one, () => client.get(one))
    }
    for (const path of ['/v1/agents?all=1', '/v1/next', '/v1/health', '/v1/list?all=true', '/v1/openapi.json'])
      await ask(path, () => client.get(path))
    answers.push(['options of tmux', herd.tmux('list-panes', '-a', '-F', '#{@skein_state} #{@skein_reason}')])
  }

  const isTaken = async (): Promise<boolean> =>
    !readdirSync(herd.home.paths.spool).some((name) => name.endsWith('.msg'))

  // The requests of one agent, and all that its hooks say.
  let prompt = 0
  const asks = (tool_name: string, tool_input: object): void => {
    prompt += 1
    herd.says(kim, { hook_event_name: 'PermissionRequest', tool_name, prompt_id: `p${prompt}`, tool_input })
  }
  herd.says(kim, { hook_event_name: 'UserPromptSubmit', prompt: `use ${SAID['prompt in a hook']}` })
  asks('Bash', { command: `curl -H "X: ${SAID['command in a hook']}"` })
  asks(SAID['tool in a hook'], { description: 'a tool of its own' })
  asks('Write', { file_path: `/srv/${SAID['path in a hook']}.txt`, content: SAID['command in a hook'] })
  const options = [{ label: `take ${SAID['option in a hook']}` }, { label: 'no' }]
  asks('AskUserQuestion', { questions: [{ question: `is it ${SAID['question in a hook']}?`, options }] })
  asks('ExitPlanMode', { plan: `# Plan\nuse ${SAID['plan in a hook']}` })
  await come('requests', async () => (await herd.runs.read(kim.id))?.requests?.length === prompt)
  await look()
  // What it answers, and how its turn fails.
  const message = `Claude needs ${SAID['notification in a hook']}`
  herd.says(lee, {
    hook_event_name: 'Notification',
    notification_type: 'permission_prompt',
    message,
  })
  await come('a look at the message', isTaken)
  await look()
  herd.says(lee, {
    hook_event_name: 'Stop',
    last_assistant_message: `it is ${SAID['reply in a hook']}`,
  })
  await come('a look at the reply', isTaken)
  const failure = { error: 'unknown', error_details: SAID['failure in a hook'] }
  herd.says(lee, {
    hook_event_name: 'StopFailure',
    ...failure,
    last_assistant_message: SAID['failure in a hook'],
  })
  await come('a look at the failure', isTaken)
  await look()
  await client.post('/v1/report', { agent: lee.address, status: 'idle', reason: SAID['reason of a report'] })
  // A dialog and a title that only the terminal shows.
  await herd.shows(screen, [
    `\x1b]2;✳ ${SAID['title of the pane']}\x07`,
    '─'.repeat(60),
    ' Bash command',
    '',
    `   echo ${SAID['command on the screen']}`,
    '   Say it',
    '',
    ' Do you want to proceed?',
    ' ❯ 1. Yes',
    `   2. Yes, and don't ask again for echo ${SAID['label on the screen']} commands in /srv`,
    '   3. No, and tell Claude what to do differently (esc)',
  ])
  await come('screen waiting', async () => (await herd.statusOf(screen))?.status === 'waiting')
  await look()
  await herd.shows(screen, [`the key is ${SAID['screen of a quiet agent']}`, '', '❯ '])
  await look()
  const cwd = `/srv/${SAID['directory in a hook']}`
  herd.says(lee, { hook_event_name: 'SessionStart', source: 'startup', session_id: SESSION, cwd })
  herd.says(lee, { session_id: SESSION, hook_event_name: 'SessionEnd', reason: SAID['end in a hook'] })
  await look()
  listening.abort()
  await heard

  const leaks = answers.flatMap(([where, text]) =>
    Object.entries(EVERYTHING).flatMap(([place, secret]) => (text.includes(secret) ? [`${place}: ${where}`] : [])),
  )
  expect([...new Set(leaks)]).toEqual([])
  const kept: string[] = []
  for (const name of readdirSync(herd.root, { recursive: true, encoding: 'utf8' })) {
    if (/^(?:\.claude|shop)/.test(name) || !statSync(join(herd.root, name), { throwIfNoEntry: false })?.isFile())
      continue
    const content = readFileSync(join(herd.root, name), 'latin1')
    for (const [place, secret] of Object.entries(EVERYTHING))
      if (content.includes(secret)) kept.push(`${place}: ${name}`)
  }
  expect(kept).toEqual([])
  const streamed = answers.filter(([where]) => where === 'the live stream').length
  console.info(
    `${answers.length} answers, ${streamed} of them messages of the live stream, ${Object.keys(EVERYTHING).length} secrets: no leak`,
  )
}, 180_000)
