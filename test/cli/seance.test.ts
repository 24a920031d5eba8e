import { expect, it } from 'vitest'
import { predecessor } from '../../src/lifecycle/seance/predecessor.js'
import { crew } from './crew.js'
import { profilesUnder } from './world.js'

it('seance list shows the role of each session, why it began and who began it', async () => {
  const { root, skein } = await crew()
  const home = await profilesUnder(root).open('default')
  await home.sessions.start({ agent: 'web/a', role: 'crew', topic: 'handoff', sender: 'self' })
  await home.sessions.start({ agent: 'web/b', role: 'polecat', topic: 'assigned', sender: 'mayor' })
  await home[Symbol.asyncDispose]()
  const lines = (await skein('seance', 'list')).stdout.split('\n').map((line) => line.split(/ {2,}/))
  const [header = [], ...rows] = lines
  const shown = (name: string): (string | undefined)[] => rows.slice(0, 2).map((cells) => cells[header.indexOf(name)])
  expect([shown('ROLE'), shown('TOPIC'), shown('FROM')]).toEqual([
    ['polecat', 'crew'],
    ['assigned', 'handoff'],
    ['mayor', 'self'],
  ])
})

it('seance lists by agent, role, rig, work and chain, the newest first and at most so many, in text and JSON', async () => {
  const { root, skein } = await crew()
  const home = await profilesUnder(root).open('default')
  const first = await home.sessions.start({ agent: 'web/a', role: 'crew', work_unit: 'wk-1' })
  const second = await home.sessions.handoff(first.id, { subject: 'go on' })
  const other = await home.sessions.start({ agent: 'web/b', role: 'polecat', work_unit: 'wk-2' })
  const back = await home.sessions.start({ agent: 'back/c', role: 'polecat' })
  await home[Symbol.asyncDispose]()
  const listed = async (...args: string[]): Promise<string[]> =>
    (await skein('seance', ...args, '--json')).document.sessions.map(({ id }: { id: string }) => id)
  expect(await listed('--agent', 'web/a')).toEqual([second.id, first.id])
  expect(await listed('--role', 'polecat')).toEqual([back.id, other.id])
  expect(await listed('--rig', 'web')).toEqual([other.id, second.id, first.id])
  expect(await listed('--work', 'wk-2')).toEqual([other.id])
  expect(await listed('--chain', first.id)).toEqual([second.id, first.id])
  expect(await listed('--recent', '2')).toEqual([back.id, other.id])
  expect(await listed('list', '--agent', 'web/a', '--recent', '1')).toEqual([second.id])
  expect((await skein('seance', '--agent', 'nobody')).stdout).not.toContain(first.id.slice(0, 8))
})

it('a past session is meant by its id, its agent, its unit of work or its chain; what cannot be read or asked is refused in one line', async () => {
  const { root, skein } = await crew()
  const home = await profilesUnder(root).open('default')
  const first = await home.sessions.start({ agent: 'web/a', tool: 'demo', work_unit: 'wk-1' })
  const second = await home.sessions.handoff(first.id, { subject: 'go on' })
  const shared = [
    await home.sessions.start({ agent: 'web/b', tool: 'demo', work_unit: 'wk-2' }),
    await home.sessions.start({ agent: 'back/c', tool: 'demo', work_unit: 'wk-2' }),
  ]
  const gone = await home.sessions.start({ agent: 'web/b', tool: 'vanished' })
  // Which session each means; the digest of another, which has a log.
  const meant = async (...args: Parameters<typeof predecessor> extends [unknown, ...infer Rest] ? Rest : never) =>
    (await predecessor(home, ...args)).id
  expect(await meant(first.id)).toBe(first.id)
  expect(await meant(first.id.slice(0, 13))).toBe(first.id)
  expect(await meant(first.id, { isNewest: true })).toBe(second.id)
  expect(await meant('wk-1')).toBe(second.id)
  await home[Symbol.asyncDispose]()
  const refusal = async (...args: string[]) => {
    const { stderr, exitCode } = await skein('seance', ...args)
    expect([1, 2]).toContain(exitCode) // 2: a tool that nobody knows
    return stderr.trimEnd().split('\n')[0]
  }
  for (const how of [['read'], ['talk', '--prompt', 'x']])
    expect(await refusal(how[0] ?? '', 'wk-2', ...how.slice(1))).toContain(
      `2 chains of sessions worked on wk-2: ${shared.map(({ id, agent }) => `${id} (${agent})`).join(', ')}`,
    )
  expect(await refusal('read', 'wk-1')).toContain(`Nothing is left of what was said in session ${second.id}`)
  expect(await refusal('read', first.id, '--newest')).toContain(second.id)
  expect(await refusal('read', 'nothing-of-the-kind')).toContain('No session matches "nothing-of-the-kind"')
  expect(await refusal('talk', gone.id, '--prompt', 'x')).toContain('vanished')
  expect(await refusal('talk', first.id, '--prompt', 'x', '--tool', 'nonesuch')).toContain('nonesuch')
  const { document } = await skein('list', '--all', '--json')
  expect(document.agents.map(({ address }: { address: string }) => address)).toEqual(['web/a', 'web/b', 'back/c'])
})
