import { it, type TestContext } from 'vitest'

declare module 'vitest' {
  interface TaskMeta {
    /** Which cell of the table of tools and operations this test fills. */
    operation?: { tool: string; name: string; note?: string }
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
