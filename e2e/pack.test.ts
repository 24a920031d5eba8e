import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { objectAt } from '../src/tools/json-value.js'
import { numberedPrompt, textFiles, writingTurns } from './numbered-turns.js'
import { until } from './skein.js'
import { claude } from './tools/claude.js'
import { codex } from './tools/codex.js'
import type { RealTool } from './tools/real-tool.js'
import { User } from './user.js'

const AGENT = 'web/worker'
const TURNS = [1, 2, 3]
it('a session of Claude Code is packed at its second turn and continued by another user, in Claude Code and in Codex', async () => {
  const script = { rules: [...writingTurns(TURNS), { when: /.*/, steps: [{ text: 'Gladly.' }] }] }
  await using giver = await User.of([claude], { script })
  await using taker = await User.of([claude, codex])
  const options = ['--arg=--permission-mode', '--arg=acceptEdits']
  const session = await giver.agentAtWork(AGENT, claude, { prompt: numberedPrompt(1), options })
  for (const turn of [2, 3]) await giver.skein.run('send', AGENT, numberedPrompt(turn), '--wait', '--timeout', '60s')
  expect(textFiles(giver.scratch.project)).toEqual(TURNS.map((turn) => `file-${turn}.txt`))

  const file = join(giver.scratch.home, 'session.skein')
  // The snapshot of a turn is taken beside it.
  await until('both turns have their snapshots', async () => {
    const { snapshots } = await giver.skein.run('pack', session, '--turn', '2', '-o', file, '--force')
    return snapshots === 4
  })

  const damaged = join(taker.scratch.home, 'damaged.skein')
  const bytes = readFileSync(file)
  bytes.writeUInt8(bytes.readUInt8(bytes.length >> 1) ^ 1, bytes.length >> 1)
  writeFileSync(damaged, bytes)
  await expect(taker.skein.run('unpack', damaged, '--into', join(taker.scratch.home, 'none'))).rejects.toThrow(
    'pack-damaged',
  )
  expect(existsSync(join(taker.scratch.home, 'none'))).toBe(false)

  const continued = async (tool: RealTool): Promise<void> => {
    const receipt = await taker.skein.run(
      ...['unpack', file, '--into', join(taker.scratch.home, `from-${tool.name}`), '--tool', tool.name],
      ...['--name', `got/${tool.name}`],
    )
    const cwd = String(receipt.cwd)
    expect(textFiles(cwd)).toEqual(['file-1.txt', 'file-2.txt'])
    expect(readFileSync(join(cwd, 'file-2.txt'), 'utf8')).toBe('content 2\n')
    const address = String(objectAt(receipt, 'agent')?.address)
    await taker.skein.run('restart', address)
    // Both ask once whether a directory that they do not know is to be trusted.
    await taker.skein.listed(address, { status: 'waiting' }, 60_000)
    await taker.skein.run('approve', address)
    await taker.skein.listed(address, { status: 'idle' }, 60_000)
    await taker.skein.run('send', address, `and now, ${tool.name}?`, '--wait', '--timeout', '60s')
    const asked = taker.server.requests.findLast(({ prompts }) => prompts.at(-1) === `and now, ${tool.name}?`)
    const words = JSON.stringify(asked?.digest)
    expect(asked?.prompts.slice(-3)).toEqual([numberedPrompt(1), numberedPrompt(2), `and now, ${tool.name}?`])
    for (const turn of [1, 2]) expect(words).toContain(`I write file ${turn}.`)
    expect(words).not.toContain('ile 3')
  }
  await continued(claude)
  await continued(codex)
})
