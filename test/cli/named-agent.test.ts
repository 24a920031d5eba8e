import { expect, it } from 'vitest'
import { everyCommand, wordsOf } from './every-command.js'
import { type } from './typed.js'
import { agentsUnder, daemonUnder, profilesUnder, scratch } from './world.js'

/** What a command wants beside the agent. */
const BESIDE: Readonly<Record<string, string>> = {
  'send agent': 'hello',
  'answer agent': 'Yes',
  'keys agent': 'Enter',
  'snooze agent': '1h',
  'rename agent': 'store',
  'agents rename agent': 'store',
  'move agent': 'lab',
  'agents move agent': 'lab',
  'report agent': '--state idle',
  'agents set-parent agent': '--none',
  'agents set agent': '--title New',
  'agents add parent': '--tool claude',
  'mail send to': '--subject Hello --body x',
  'mail send from': '--subject Hello --body x',
  'budget set agent': '--hard 5usd',
  'fork session': '--turn 1',
  'diff session': '1',
  'rewind session': '--turn 1',
  'bisect session': '--run true',
  'turns note session': '1 tried',
  'turns pin session': '1',
  'turns unpin session': '1',
  'pack reference': '--output session.skein',
}

/** What is given before it, where another word than the name of an agent that exists is wanted. */
const BEFORE: Readonly<Record<string, string>> = {
  'start parent': '.',
  'spawn parent': '.',
  'agents set-parent parent': 'web/shop',
}

/**
 * They give an agent its address, record what is said as it is said, erase, answer a hook that must not fail, or look up something else
 * before the name.
 */
const OTHERWISE = new Set([
  ...['start agent', 'spawn agent', 'prime agent'],
  ...['session start parent', 'session start fork-of', 'session end session', 'session handoff session'],
  ...['session step session', 'session update session', 'purge session'],
  ...['work done session', 'mail send from-session', 'mail inbox session', 'mail read session'],
  ...['mail reply from', 'mail reply from-session'],
  'list chain',
])

it('every command that takes an agent, or a session, knows it by a short name, and names the candidates of one that fits several', async () => {
  using at = scratch()
  const root = at.path
  const where = { profiles: profilesUnder(root), agents: agentsUnder(root), daemon: daemonUnder(root) }
  const world = { ...where, cwd: root, now: Date.now }
  for (const address of ['web/shop', 'old/shop'])
    expect((await type(['agents', 'add', address, '--tool', 'claude'], world)).exitCode).toBe(0)
  const roster = async () => (await type(['agents', 'list', '--json'], world)).stdout
  const before = await roster()
  const fits = '"shop" fits 2 agents: old/shop, web/shop'
  const answers: Record<string, string> = {}
  for (const { name, command } of await everyCommand()) {
    for (const [field, { kind }] of Object.entries({ ...command.args, ...command.options })) {
      const input = `${name} ${field}`
      if ((kind?.completes !== 'agent' && kind?.completes !== 'session') || OTHERWISE.has(input)) continue
      const args = Object.keys(command.args)
      const earlier = field in command.args ? args.slice(0, args.indexOf(field)) : args
      const words = [
        ...(BEFORE[input] === undefined ? earlier.map(() => 'other') : wordsOf(BEFORE[input])),
        ...(field in command.args ? ['shop'] : [`--${field}`, 'shop']),
        ...wordsOf(BESIDE[input] ?? ''),
      ]
      const { stderr } = await type([...name.split(' '), ...words, '--json'], world)
      const said = stderr.split('\n').find((line) => line.startsWith('{"error"')) ?? '{}'
      answers[input] = JSON.parse(said).error?.message ?? stderr
    }
  }
  expect(Object.keys(answers).length).toBeGreaterThan(60)
  expect(Object.entries(answers).filter(([, message]) => message !== fits)).toEqual([])
  expect(await roster()).toBe(before)
})

it('what is recorded about an agent names it by its address; the name of another agent is kept as it is', async () => {
  using at = scratch()
  const root = at.path
  const where = { profiles: profilesUnder(root), agents: agentsUnder(root), daemon: daemonUnder(root) }
  const world = { ...where, cwd: root, now: Date.now }
  const said = async (...words: string[]) => JSON.parse((await type([...words, '--json'], world)).stdout)
  await said('agents', 'add', 'web/shop', '--tool', 'claude', '--title', 'Front end')
  const { id } = await said('agents', 'show', 'web/shop')
  for (const name of ['web/shop', 'shop', 'Front end', id.slice(0, 8)]) {
    expect(await said('events', 'append', 'mail', '--agent', name)).toMatchObject({ agent: 'web/shop' })
    const begun = await said('session', 'start', '--agent', name)
    expect(begun).toMatchObject({ agent: 'web/shop', agent_id: id, tool: 'claude' })
    const next = await said('session', 'handoff', begun.id, '--agent', name)
    expect(next).toMatchObject({ agent: 'web/shop', agent_id: id })
  }
  expect(await said('events', 'append', 'mail', '--agent', 'elsewhere')).toMatchObject({ agent: 'elsewhere' })
  expect(await said('session', 'start', '--agent', 'lab/elsewhere')).toMatchObject({ agent: 'lab/elsewhere' })
})
