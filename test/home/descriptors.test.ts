import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { scratch } from './scratch.js'

const WORKER = join(import.meta.dirname, '..', 'workers', 'open-homes.mjs')
/** So much room that nothing is collected by chance: what is released is released on purpose. */
const ROOMY = ['--min-semi-space-size=256', '--max-semi-space-size=256']

it.skipIf(process.platform !== 'linux')('homes that are opened and closed all day leave no files open', () => {
  const root = scratch()
  const env = { PATH: process.env.PATH, HOME: root }
  const left = execFileSync(process.execPath, [...ROOMY, WORKER, join(root, 'home'), '120'], { env, encoding: 'utf8' })
  expect(Number(left)).toBeLessThan(60)
})
