import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { deleteProfile } from '../../src/home/index.js'
import { openTestHome, profileDirectory, scratch } from '../home/scratch.js'

describe('deleting a profile', () => {
  it('waits for those who use it, and leaves it alone while they do', async () => {
    const root = scratch()
    const { home } = await openTestHome(root)
    await home.sessions.start({ id: 'one' })
    await expect(deleteProfile(root, 'default')).rejects.toMatchObject({ code: 'home-busy' })
    expect(existsSync(join(profileDirectory(root), 'index.db'))).toBe(true)
    await home[Symbol.asyncDispose]()
    await deleteProfile(root, 'default')
    expect(existsSync(profileDirectory(root))).toBe(false)
  })
})
