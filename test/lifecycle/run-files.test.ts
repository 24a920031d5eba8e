import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { writeAgainScript } from '../../src/terminal/index.js'
import { scratch } from '../home/scratch.js'
import { fakeTool } from './fake-tool.js'
import { workshop } from './workshop.js'

it('a program without hooks and without an API gets no files for them; one that is answered through its API gets its secret', async () => {
  const plain = fakeTool({ name: 'plain', tells: false })
  const served = { ...fakeTool({ name: 'served' }), answer: async () => ({ receipt: 'taken' }) }
  const { agents, project, parts } = await workshop({ runners: [plain, served] })
  const filesOf = async (tool: string): Promise<string[]> => {
    const { agent } = await agents.start({ agent: tool, cwd: project, tool })
    const run = (await parts.runs.read(agent.id))?.run?.id ?? ''
    const directory = join(parts.runs.directoryOf(agent.id), run)
    return existsSync(directory) ? readdirSync(directory) : []
  }
  expect(await filesOf('plain')).toEqual([])
  expect(await filesOf('served')).toEqual(['secret'])
})

it('the script behind the keys of an ended pane is written once, and anew when it would say something else', () => {
  const path = join(scratch(), 'agent', 'again.sh')
  const script = { path, skein: ['/bin/skein'] as const, profile: 'default', agent: 'one', env: {} }
  expect(writeAgainScript(script)).toBe(path)
  const first = statSync(path)
  expect(first.mode & 0o777).toBe(0o600)
  writeAgainScript(script)
  expect(statSync(path).ino).toBe(first.ino)
  writeAgainScript({ ...script, profile: 'other' })
  expect(readFileSync(path, 'utf8')).toContain('other')
})
