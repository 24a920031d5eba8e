import { readdirSync } from 'node:fs'
import { expect, it } from 'vitest'
import { openTestHome, scratch } from './scratch.js'

const descriptors = (): number => readdirSync('/proc/self/fd').length

it.skipIf(process.platform !== 'linux')('homes that are opened and closed all day leave no files open', async () => {
  const root = scratch()
  const once = async (): Promise<void> => {
    const { home } = await openTestHome(root)
    await home.sessions.start({})
    await home.sessions.query({})
    await home[Symbol.asyncDispose]()
  }
  await once()
  const before = descriptors()
  for (let n = 0; n < 120; n += 1) await once()
  await new Promise((resolve) => setTimeout(resolve, 50)) // statements end in a turn of their own
  expect(descriptors() - before).toBeLessThan(60)
})
