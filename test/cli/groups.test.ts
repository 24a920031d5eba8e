import { describe, expect, it } from 'vitest'
import { crew } from './crew.js'

describe('skein group set', () => {
  it('changes the order, the name and the fold that list shows; empty groups are shown', async () => {
    const { skein } = await crew()
    await skein('group', 'create', 'attic')
    const names = async (...args: string[]): Promise<string[]> =>
      (await skein('list', ...args)).stdout
        .trimEnd()
        .split('\n')
        .map((line) => line.replace(/ stopped .*/, ''))
    expect(await names()).toEqual(['web/', '├─ ■ a', '└─ ■ b', 'back/', '└─ ■ c', 'attic/ (empty)'])
    expect(await skein('group', 'set', 'back', '--name', 'Back end', '--order', '0')).toEqual({
      stdout: 'back is shown as "Back end", order 0, expanded\n',
      stderr: '',
      exitCode: 0,
      document: {},
    })
    expect(await names()).toEqual(['back/ Back end', '└─ ■ c', 'web/', '├─ ■ a', '└─ ■ b', 'attic/ (empty)'])
    await skein('group', 'set', 'web', '--folded')
    expect(await names()).toEqual(['back/ Back end', '└─ ■ c', 'web/ (2 agents: 2 stopped)', 'attic/ (empty)'])
    expect(await names('--group', 'web')).toEqual(['web/', '├─ ■ a', '└─ ■ b'])
    expect(await names('--tool', 'demo')).toEqual(['back/ Back end', '└─ ■ c', 'web/', '├─ ■ a', '└─ ■ b'])
    const { agents, groups } = (await skein('list', '--json')).document
    expect(agents.map(({ address }: { address: string }) => address)).toEqual(['back/c', 'web/a', 'web/b'])
    expect(groups).toEqual([
      { path: 'back', name: 'Back end', expanded: true, order: 0 },
      { path: 'web', name: 'web', expanded: false, order: 1 },
      { path: 'attic', name: 'attic', expanded: true, order: 2 },
    ])
    expect((await skein('group', 'list')).stdout).toBe(
      [
        'GROUP  NAME      ORDER  SHOWN   AGENTS',
        'back   Back end      0               1',
        'web                  1  folded       2',
        'attic                2               0',
        '',
      ].join('\n'),
    )
    await skein('group', 'set', 'web', '--expanded')
    expect(await names()).toContain('└─ ■ b')
  })

  it('answers each mistake with one line and changes nothing', async () => {
    const { skein } = await crew()
    const before = (await skein('group', 'list', '--json')).stdout
    for (const [args, line, exitCode] of [
      [['wbe', '--folded'], 'skein: No group wbe - Did you mean web ?', 1],
      [['web/a', '--folded'], 'skein: web/a is an agent, not a group - Try: skein group list', 1],
      [['web'], 'skein: Nothing to change. Name what to change, for example --name. See: skein group set --help', 2],
      [
        ['web', '--folded', '--expanded'],
        'skein: A group is either expanded or folded. Name one of them. See: skein group set --help',
        2,
      ],
      [['web', '--order=-1'], 'skein: "-1" is not a whole number from 0 to 999999999. Write it like 0 (first) or 5', 2],
      [
        ['web', '--order', '99999999999999999999'],
        'skein: "99999999999999999999" is not a whole number from 0 to 999999999. Write it like 0 (first) or 5',
        2,
      ],
      [
        ['web', '--name', 'a\x1b]0;x\x07'],
        'skein: The name of a group has a control character. Use printable characters',
        2,
      ],
    ] as const) {
      const { stdout, stderr, exitCode: code } = await skein('group', 'set', ...args)
      expect({ stdout, stderr, code }).toEqual({ stdout: '', stderr: `${line}\n`, code: exitCode })
    }
    const twin = await skein('start', 'web/a', '--agent', 'Web/new', '--tool', 'demo')
    expect(twin).toMatchObject({
      stderr: 'skein: Web differs from the group web only in case - Use web\n',
      exitCode: 1,
    })
    expect((await skein('group', 'list', '--json')).stdout).toBe(before)
  })
})
