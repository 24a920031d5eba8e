import { expect, it } from 'vitest'
import { COMMANDS } from '../../src/cli/command-table.js'
import { route } from '../../src/cli/route.js'

async function asked(...typed: string[]): Promise<unknown> {
  const meant = route(typed, COMMANDS)
  return meant.kind === 'command' ? [(await meant.entry.load()).name, ...meant.args] : meant.kind
}

it('an agent may be named like a verb that needs further words: alone, the word is its name', async () => {
  for (const name of ['note', 'pin', 'unpin']) {
    expect(await asked('turns', name)).toEqual(['turns', name])
    expect(await asked('turns', name, '--full', '--json')).toEqual(['turns', name, '--full', '--json'])
    expect(await asked('turns', '--turn', '2', name)).toEqual(['turns', '--turn', '2', name])
    expect(await asked('turns', '--', name)).toEqual(['turns', '--', name])
    expect(await asked('turns', name, 'web/toast', '2')).toEqual([`turns ${name}`, 'web/toast', '2'])
    expect(await asked('turns', name, name, '2')).toEqual([`turns ${name}`, name, '2'])
    expect(await asked('turns', name, '--help')).toBe('help')
  }
  expect(await asked('turns', 'note', '--remove', 'web/toast', '2')).toEqual([
    ...['turns note', '--remove', 'web/toast', '2'],
  ])
  // Verbs that need no word keep it, because an agent would be changed: it is archived by `skein agents archive list`.
  expect(await asked('archive', 'list')).toEqual(['archive list'])
})
