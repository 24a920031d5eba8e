import { describe, expect, it } from 'vitest'
import type { Notice } from '../../src/daemon/notices/attention.js'
import { parseNotify, type Way, waysFor } from '../../src/daemon/notices/notify-settings.js'
import { SkeinError } from '../../src/model/index.js'

const FILE = '/home/ada/config.toml'
const notice = (agent: string, kind: Notice['kind']): Pick<Notice, 'agent' | 'kind'> => ({ agent, kind })
const NOON = new Date(2026, 0, 17, 12)
const at = (hour: number, minute = 0): Date => new Date(2026, 0, 17, hour, minute)

function ways(notify: Record<string, unknown>, of: Pick<Notice, 'agent' | 'kind'>, when = NOON): readonly Way[] {
  return waysFor(of, parseNotify({ notify }, FILE), when)
}

describe('who is told what, and how', () => {
  it('without settings, everything on the desktop and in tmux', () => {
    for (const kind of ['waiting', 'failed', 'finished'] as const) {
      expect(ways({}, notice('a', kind))).toEqual(['desktop', 'tmux'])
    }
    expect(ways({ command: ['x'] }, notice('a', 'failed'))).toEqual(['desktop', 'tmux', 'command'])
  })

  it('only of the kinds that are asked for', () => {
    expect(ways({ on: ['failed'] }, notice('a', 'waiting'))).toEqual([])
    expect(ways({ on: ['failed'], by: ['bell'] }, notice('a', 'failed'))).toEqual(['bell'])
  })

  it('the first rule for the group and the kind decides, also for silence', () => {
    const rules = [
      { group: 'web/api', by: [] },
      { group: 'web', on: ['finished'], by: ['bell'] },
    ]
    const of = (agent: string, kind: Notice['kind']) => ways({ by: ['tmux'], rules }, notice(agent, kind))
    expect(of('web/api/toast', 'waiting')).toEqual([])
    expect(of('web/butter', 'finished')).toEqual(['bell'])
    expect(of('web/butter', 'waiting')).toEqual(['tmux'])
    expect(of('website/x', 'finished')).toEqual(['tmux'])
  })

  it('nothing in quiet hours, which may go over midnight', () => {
    const quiet = { quiet_hours: ['22:00-07:30', '12:30-13:00'] }
    const isQuiet = (when: Date): boolean => ways(quiet, notice('a', 'waiting'), when).length === 0
    expect([at(21, 59), at(22), at(3), at(7, 29), at(7, 30), at(12, 29), at(12, 45), at(13)].map(isQuiet)).toEqual([
      false,
      true,
      true,
      true,
      false,
      false,
      true,
      false,
    ])
  })
})

describe('a mistake in the settings is said with its place and what to write', () => {
  it.each([
    [{ on: ['wating'] }, 'notify.on in /home/ada/config.toml is ["wating"]'],
    [{ by: 'tmux' }, 'notify.by in /home/ada/config.toml is "tmux"'],
    [{ by: ['command'] }, 'there is no notify.command'],
    [{ command: 'ntfy publish' }, 'notify.command in /home/ada/config.toml is not a list of words'],
    [{ command: [] }, 'notify.command in /home/ada/config.toml is not a list of words'],
    [{ quiet_hours: '22-7' }, 'notify.quiet_hours in /home/ada/config.toml is "22-7"'],
    [{ quiet_hours: '25:00-07:00' }, 'notify.quiet_hours'],
    [{ quiethours: '22:00-07:00' }, 'has the unknown key "quiethours"'],
    [{ rules: { group: 'web' } }, 'notify.rules in /home/ada/config.toml is not a list'],
    [{ rules: [{ group: 'web' }] }, 'notify.rules[0] in /home/ada/config.toml has no "by"'],
    [{ rules: [{ by: [], state: ['waiting'] }] }, 'has the unknown key "state"'],
  ])('%j', (notify, message) => {
    const parse = (): unknown => parseNotify({ notify }, FILE)
    expect(parse).toThrow(SkeinError)
    expect(parse).toThrow(message)
  })
})
