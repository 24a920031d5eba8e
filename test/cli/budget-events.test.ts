import { expect, it } from 'vitest'
import { crew } from './crew.js'

it('events about budgets name agents and groups as their user does', async () => {
  const { skein } = await crew()
  await skein('budget', 'set', 'web/a', '--soft', '1usd', '--hard', '5usd')
  await skein('budget', 'set', '--group', 'web', '--hard', '200ktok', '--per', 'day')
  await skein('budget', 'set', '--all', '--hard', '9usd')
  await skein('budget', 'clear', 'web/a')
  for (const view of ['tail', 'feed']) {
    const { stdout } = await skein('events', view)
    const lines = stdout.split('\n').flatMap((line) => /(?:set|removed) a budget: .*/.exec(line)?.[0].trimEnd() ?? [])
    expect(lines, view).toEqual([
      'set a budget: agent web/a, warn at $1.00, stop at $5.00',
      'set a budget: group web, stop at 200,000 tokens a day',
      'set a budget: everything, stop at $9.00',
      'removed a budget: agent web/a, warn at $1.00, stop at $5.00',
    ])
  }
})
