import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { WatchedDirectory } from '../../src/daemon/watch/watched-directory.js'

it('a directory that is made later is found and watched, however seldom one looks otherwise', async () => {
  const root = mkdtempSync(join(tmpdir(), 'skein-watched-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const directory = join(root, 'made', 'later')
  const changed = vi.fn()
  const found = vi.fn()
  using _watched = new WatchedDirectory(directory, changed, { lookMs: 3_600_000, onFound: found })
  mkdirSync(directory, { recursive: true })
  await vi.waitFor(() => expect(found).toHaveBeenCalledOnce(), 20_000)
  writeFileSync(join(directory, 'one.json'), '{}')
  await vi.waitFor(() => expect(changed).toHaveBeenCalledWith('one.json'), 20_000)
})
