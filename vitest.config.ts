import { defineConfig } from 'vitest/config'

const shared = { testTimeout: 120_000, hookTimeout: 120_000 }
// On a machine that is shared a program may be late: there a test is tried once more, and the report says so. Here it is not.
const isShared = process.env.CI !== undefined

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...shared,
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['test/real/**'],
          retry: isShared ? 1 : 0,
        },
      },
      {
        test: {
          ...shared,
          name: 'real',
          include: ['test/real/**/*.test.ts', 'e2e/**/*.test.ts'],
          // Programs that are not ours: five of them, each with its own way to be slow.
          retry: isShared ? 2 : 0,
        },
      },
    ],
  },
})
