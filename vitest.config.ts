import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const shared = {
  testTimeout: 300_000, // a hundred times what most take: on a machine that is busy nothing may fail for that
  hookTimeout: 300_000,
  // Only then: every file would load it.
  setupFiles: process.env.SKEIN_TEST_SEED ? ['test/support/fixed-seed.ts'] : [],
}

/** These mostly wait for programs, so more of them than there are cores run at once. */
const WAITING = [
  'test/conversations/held-lock.test.ts',
  ...['lifecycle', 'terminal', 'daemon'].map((folder) => `test/${folder}/**/*.test.ts`),
]

/** The files that take longest begin first: one that begins last would be waited for alone. */
const LONG = [
  ...['cli/odd-surroundings', 'cli/json-shapes', 'many-writers', '/fuzz', 'history/', 'purge/'],
  ...['conversations/held-lock', 'lifecycle/'],
  ...[
    'truth',
    'resurrect',
    'continue',
    'handoff',
    'recover',
    'installed-hooks',
    'turns',
    'agents',
    'afternoon',
    'runners',
  ].map((name) => `e2e/${name}`),
]

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = LONG.findIndex((name) => moduleId.includes(name))
      return at < 0 ? LONG.length : at
    }
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b))
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          ...shared,
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: WAITING,
          maxWorkers: Math.max(2, availableParallelism() - 1),
        },
      },
      {
        test: {
          ...shared,
          name: 'waiting',
          include: WAITING,
          maxWorkers: Math.max(4, availableParallelism()),
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          ...shared,
          name: 'real',
          include: ['e2e/**/*.test.ts'],
          maxWorkers: 3,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
})
