import { describe, expect, it } from 'vitest'
import { COMMAND_ONLY, loadOperation, OPERATION_NAMES } from '../../src/operations/index.js'
import { SHAPES } from '../../src/operations/shapes.js'
import { everyCommand } from '../cli/every-command.js'

describe('the table of operations', async () => {
  const commands = await everyCommand()
  const operations = await Promise.all(OPERATION_NAMES.map((name) => loadOperation(name)))

  it('has every command: as an operation, or named with the reason why it is the command line alone', () => {
    const own = commands.filter(({ command }) => command.operation === undefined).map(({ name }) => name)
    expect(own.sort()).toEqual(Object.keys(COMMAND_ONLY).sort())
    for (const reason of Object.values(COMMAND_ONLY)) expect(reason).toMatch(/^[A-Z].{20,}[^.]$/)
    console.info(
      `${OPERATION_NAMES.length} operations; ${commands.length} commands, ${commands.length - own.length} of them one operation each, ${own.length} the command line alone`,
    )
  })

  it('has no operation without a command', () => {
    const derived = new Set(commands.map(({ command }) => command.operation?.name))
    expect(OPERATION_NAMES.filter((name) => !derived.has(name))).toEqual([])
  })

  it('names each operation as it is declared, and its result by a shape of docs/JSON.md', () => {
    for (const [at, { name, result, summary }] of operations.entries()) {
      expect(name).toBe(OPERATION_NAMES[at])
      for (const shape of [result].flat()) expect(Object.keys(SHAPES)).toContain(shape)
      expect(summary).toMatch(/^[A-Z].*[^.]$/)
    }
  })

  it('has no field that only looks like another: names are snake_case, and differ from all aliases', () => {
    for (const { name, input } of operations) {
      const names = Object.entries(input).flatMap(([field, { aliases = [] }]) => [field, ...aliases])
      expect([name, names.filter((field) => !/^[a-z][a-z_]*$/.test(field))]).toEqual([name, []])
      expect([name, new Set(names).size]).toEqual([name, names.length])
    }
  })
})
