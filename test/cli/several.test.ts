import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { eventually } from '../lifecycle/workshop.js'
import { crew } from './crew.js'

describe('several agents at once', () => {
  it('are started, restarted, waited for and stopped, with one receipt each', async () => {
    const { skein, statuses } = await crew()
    const started = await skein('start', '--all', '--json')
    expect(started).toMatchObject({ stderr: '', exitCode: 0 })
    expect(started.document.receipts.map(({ did }: { did: string }) => did).sort()).toEqual([
      'started back/c',
      'started web/a',
      'started web/b',
    ])
    expect(await statuses()).toEqual({ 'web/a': 'idle', 'web/b': 'idle', 'back/c': 'idle' })
    expect(await skein('start', '--all')).toMatchObject({
      stdout: '',
      stderr: 'No agent is stopped there\n',
      exitCode: 0,
    })

    const waited = await skein('wait', 'a', 'b', '--until', 'idle', '--timeout', '30s')
    expect(waited.stdout.split('\n').sort().slice(1)).toEqual([
      expect.stringMatching(/^web\/a is idle for /),
      expect.stringMatching(/^web\/b is idle for /),
    ])
    const restarted = await skein('restart', '--group', 'web', '--json')
    expect(restarted.document.receipts.map(({ agent }: { agent: { address: string } }) => agent.address)).toEqual([
      'web/a',
      'web/b',
    ])
    const stopped = await skein('kill', 'a', 'web/b', 'web/a')
    expect(stopped.stdout.trimEnd().split('\n').sort()).toEqual([
      expect.stringMatching(/^Killed web\/a: /),
      expect.stringMatching(/^Killed web\/b: /),
    ])
    expect(await statuses()).toEqual({ 'web/a': 'stopped', 'web/b': 'stopped', 'back/c': 'idle' })
    expect((await skein('stop', '--all', '--grace', '1s')).stdout).toMatch(/^Stopped back\/c: /)
  })

  it('are left alone when one of the names is wrong', async () => {
    const { skein, statuses } = await crew()
    await skein('start', 'web/a', 'web/b')
    for (const [wrong, code] of [
      ['nobody', 'agent-not-found'],
      ['web', 'agent-not-found'],
    ] as const) {
      const { stderr, exitCode, stdout } = await skein('kill', 'web/a', wrong, '--json')
      expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' })
      expect(JSON.parse(stderr).error.code).toBe(code)
    }
    expect((await skein('stop', 'web')).stderr).toBe('skein: web is a group - Write: skein stop --group web\n')
    expect((await skein('stop', 'web/a', '--all')).exitCode).toBe(2)
    expect((await skein('stop')).stderr).toBe(
      'skein: Missing <agents>. Usage: skein stop <agents...>, or --group <group>, or --all\n',
    )
    expect(await statuses()).toMatchObject({ 'web/a': 'idle', 'web/b': 'idle' })
  })

  it('fail one by one: the others are done, each failure has a line, and the exit code is 1', async () => {
    const { root, skein, statuses } = await crew()
    rmSync(join(root, 'web', 'b'), { recursive: true })
    const started = await skein('start', 'web/a', 'web/b', 'back/c')
    expect(started.exitCode).toBe(1)
    expect(started.stdout.trimEnd().split('\n')).toHaveLength(2)
    expect(started.stderr).toMatch(/^skein: There is no directory .*\n$/)
    expect(await statuses()).toMatchObject({ 'web/a': 'idle', 'back/c': 'idle' })
    const again = await skein('start', 'web/a', 'back/c', '--json')
    expect(again.exitCode).toBe(1)
    expect(again.document).toMatchObject({ receipts: [] })
    const failures = again.document.failures as { agent: string; error: { code: string } }[]
    expect(failures.map(({ agent, error }) => [agent, error.code]).sort()).toEqual([
      ['back/c', 'agent-running'],
      ['web/a', 'agent-running'],
    ])
    // One agent named alone fails as ever, and answers as ever.
    expect((await skein('start', 'web/a', '--json')).document).toEqual({})
    expect((await skein('restart', 'web/a', '--json')).document).toMatchObject({ tier: 'respawned' })
    expect((await skein('kill', 'web/a', '--json')).document).toMatchObject({ receipts: [{ did: 'killed web/a' }] })
  })

  it('are waited for until the first is done, with --any', async () => {
    const { skein } = await crew()
    await skein('start', 'web/a', 'web/b')
    await skein('send', 'web/a', 'ask rm')
    const { document, exitCode } = await skein('wait', '--group', 'web', '--any', '--until', 'idle', '--json')
    expect(exitCode).toBe(0)
    expect(document.agents.map(({ address }: { address: string }) => address)).toEqual(['web/b'])
  })

  it('are seen with ack: finished replies and errors, one, a group or all', async () => {
    const { skein, statuses } = await crew()
    await skein('start', '--all')
    for (const [agent, prompt] of [
      ['web/a', 'hello'],
      ['web/b', 'die 3'],
      ['back/c', 'hello'],
    ] as const) {
      await skein('send', agent, prompt)
    }
    await eventually(
      statuses,
      (all) => all['web/a'] === 'waiting' && all['web/b'] === 'error' && all['back/c'] === 'waiting',
    )
    expect((await skein('ack', 'back/c', '--json')).document).toMatchObject({ did: 'acknowledged back/c' })
    const { document } = await skein('ack', '--group', 'web', '--json')
    expect(document.receipts.map(({ did }: { did: string }) => did).sort()).toEqual([
      'acknowledged web/a',
      'acknowledged web/b',
    ])
    expect(await statuses()).toEqual({ 'web/a': 'idle', 'web/b': 'stopped', 'back/c': 'idle' })
    expect((await skein('list')).stdout).not.toContain('✗')
    expect(await skein('ack', '--all')).toMatchObject({ stderr: 'Nothing to acknowledge there\n', exitCode: 0 })
  })

  it('are what skein alone shows first', async () => {
    const { skein } = await crew()
    await skein('start', 'a')
    const { stdout } = await skein()
    expect(stdout.split('\n').slice(0, 2).join('\n')).toMatch(/^web\/\n.*\ba idle/)
  })
})
