import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { paneId } from '../../src/terminal/index.js'
import { eventually, Scratch } from './scratch.js'

describe.each([{ kept: true }, { kept: false }])('a terminal, connection kept: $kept', ({ kept }) => {
  it('says that there is no server, and starts one with the first pane', async () => {
    await using scratch = new Scratch()
    const terminal = await scratch.terminal({ kept })
    await expect(terminal.panes()).rejects.toMatchObject({ code: 'tmux-gone' })
    const pane = await scratch.create(terminal, 'one', ['sleep', '600'])
    expect(pane).toMatchObject({
      session: 'one',
      cwd: scratch.path,
      width: 140,
      height: 45,
      isDead: false,
      isSeen: false,
      agent: 'agent-one',
    })
    await eventually('the program has replaced the shell', () =>
      readFileSync(`/proc/${pane.pid}/cmdline`, 'utf8') === 'sleep\x00600\x00' ? true : undefined,
    )
    const [listed] = await terminal.panes()
    expect(listed?.session).toBe('one')
    expect((await terminal.activity()).get(pane.pane)).toBe(listed?.activeAtMs)
    expect(listed?.activeAtMs).toBeGreaterThan(0)
    await terminal.close('one')
    expect(await terminal.panes()).toEqual([])
    await expect(terminal.pane(pane.pane)).rejects.toMatchObject({ code: 'pane-gone' })
    await expect(terminal.capture(paneId('%999'))).rejects.toMatchObject({ code: 'pane-gone' })
  })
})
