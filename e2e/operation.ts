import { it, type TestContext } from 'vitest'

declare module 'vitest' {
  interface TaskMeta {
    /** Which cell of the table of tools and operations this test fills. */
    operation?: { tool: string; name: string; note?: string }
    /** The cells that one long test fills, one after another. */
    cells?: { tool: string; name: string; isPassed: boolean; note?: string }[]
  }
}

/** A test that stands for one cell of the table that `npm run test:real` prints at its end. */
export function operation(tool: string, name: string, run: (context: TestContext) => void | Promise<void>): void {
  it(`${tool}: ${name}`, { meta: { operation: { tool, name } } }, run)
}

/** What the cell says instead of `yes`. */
export function note({ task }: TestContext, text: string): void {
  if (task.meta.operation) task.meta.operation.note = text
}

/** Names the cells that a test is about to fill; the result says that one is filled. */
export function cells(
  { task }: Pick<TestContext, 'task'>,
  tool: string,
  names: readonly string[],
): (name: string, note?: string) => void {
  const all = names.map((name) => ({ tool, name, isPassed: false }))
  task.meta.cells = all
  return (name, note) => {
    const cell = all.find((one) => one.name === name)
    if (!cell) throw new Error(`There is no cell ${name}`)
    Object.assign(cell, { isPassed: true, ...(note === undefined ? {} : { note }) })
  }
}
