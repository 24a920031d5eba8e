import { randomBytes, randomUUID } from 'node:crypto'
import type { Context } from '../../src/model/index.js'

/** The real clock and real randomness; what a user would be told goes into a list. */
export const contextOf = (warnings: string[]): Context => ({
  clock: { now: Date.now },
  random: { bytes: randomBytes, uuid: randomUUID },
  warn: (line) => warnings.push(line),
  progress: () => {},
  actor: 'tester',
  host: 'here',
})
