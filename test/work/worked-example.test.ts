import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { wordsOf } from '../cli/every-command.js'
import { type } from '../cli/typed.js'
import { agentsUnder, profilesUnder, scratch } from '../cli/world.js'

const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'WORK.md'), 'utf8')
const lines = [...page.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, block = '']) => block.trim().split('\n'))

it('the example of docs/WORK.md works as it is written', async () => {
  using own = scratch()
  let work = ''
  expect(lines.length).toBeGreaterThan(10)
  for (const line of lines) {
    const [, ...words] = wordsOf(line.replaceAll('$WORK', work))
    const { stdout, stderr, exitCode } = await type(words, {
      profiles: profilesUnder(own.path),
      agents: agentsUnder(own.path),
      cwd: own.path,
    })
    expect({ line, stderr, exitCode }).toEqual({ line, stderr: '', exitCode: 0 })
    if (line.includes('work add')) work = stdout.trim()
  }
  expect(work).toMatch(/^w-[2-9a-z]{6}$/)
})
