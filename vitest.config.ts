import { defineConfig } from 'vitest/config'

const shared = { testTimeout: 120_000, hookTimeout: 120_000 }

export default defineConfig({
  test: {
    projects: [
      { test: { ...shared, name: 'unit', include: ['test/**/*.test.ts'], exclude: ['test/real/**'] } },
      { test: { ...shared, name: 'real', include: ['test/real/**/*.test.ts', 'e2e/**/*.test.ts'] } },
    ],
  },
})
