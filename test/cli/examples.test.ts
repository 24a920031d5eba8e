import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { endAgents, needsProgram, preludeOf, runnable } from './agent-prelude.js'
import { environmentIn, run } from './binary.js'
import { everyCommand } from './every-command.js'
import { buildWorld, copyWorld, scratch } from './world.js'

describe('every example in help works as it is written', async () => {
  const world = scratch()
  beforeAll(() => buildWorld(join(world.path, 'master')))
  afterAll(() => world[Symbol.dispose]())

  const examples = (await everyCommand()).flatMap(({ command }) => command.examples.map(([line]) => line))
  it.concurrent.each(examples.filter((line) => !needsProgram(line)))('%s', async (line) => {
    using own = scratch()
    mkdirSync(own.path, { recursive: true })
    copyWorld(join(world.path, 'master'), join(own.path, 'home'))
    const options = { env: environmentIn(own.path), cwd: join(own.path, 'home') }
    for (const before of preludeOf(line)) expect((await run('sh', ['-c', before], options)).stderr).toBe('')
    const { stdout, stderr, exitCode } = await run('sh', ['-c', runnable(line)], options).finally(() =>
      endAgents(join(own.path, 'home')),
    )
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 })
    expect(stdout).not.toBe('')
  })
})
