import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { directoryProblem } from '../../src/lifecycle/run/directory-problem.js'
import { gitBranch } from '../../src/lifecycle/status/git-branch.js'
import { RUNNERS } from '../../src/tools/index.js'
import { BINARY, environmentIn } from '../cli/binary.js'
import { scratch } from '../home/scratch.js'
import { withoutRightsOfRoot } from '../support/without-rights-of-root.js'
import { fakeTool } from './fake-tool.js'
import { workshop } from './workshop.js'

/** What may have become of the directory of an agent, and what is said of it. */
const GONE_WRONG: Readonly<Record<string, { spoil: (directory: string) => void; said: RegExp }>> = {
  'a file': { spoil: (at) => writeFileSync(at, ''), said: /is not a directory/ },
  'below a file': {
    spoil: (at) => writeFileSync(join(at, '..'), ''),
    said: /cannot be used \(ENOTDIR\)/,
  },
  'a loop of links': { spoil: (at) => symlinkSync(at, at), said: /cannot be used \(ELOOP\)/ },
  'a pipe': { spoil: (at) => void execFileSync('mkfifo', [at]), said: /is not a directory/ },
  nothing: { spoil: () => {}, said: /there is no directory/ },
}

describe.each(Object.keys(GONE_WRONG))('an agent whose directory has become %s', (kind) => {
  it('is listed with its trouble among the others, can be removed, and is refused a start', async () => {
    const { agents, root, project } = await workshop()
    const directory = join(root, 'above', 'work')
    mkdirSync(directory, { recursive: true })
    await agents.spawn({ cwd: directory, agent: 'web/bad' })
    await agents.spawn({ cwd: project, agent: 'web/good' })
    rmSync(kind === 'below a file' ? join(root, 'above') : directory, { recursive: true })
    GONE_WRONG[kind]?.spoil(directory)
    const found = await agents.list()
    expect(found.map(({ address }) => address).sort()).toEqual(['web/bad', 'web/good'])
    expect(found.find(({ address }) => address === 'web/bad')?.cwd_problem).toMatch(GONE_WRONG[kind]?.said ?? /never/)
    expect(found.find(({ address }) => address === 'web/good')).not.toHaveProperty('cwd_problem')
    expect((await agents.why('web/bad')).agent.status).toBe('stopped')
    await expect(agents.start({ agent: 'web/bad' })).rejects.toMatchObject({ code: 'bad-input' })
    await agents.remove('web/bad')
    expect((await agents.list()).map(({ address }) => address)).toEqual(['web/good'])
  })
})

it('a directory whose name no system takes is said to be so', () => {
  expect(directoryProblem(`/${'x'.repeat(5000)}`)).toMatch(/… cannot be used \(ENAMETOOLONG\)/)
  expect(gitBranch(`/${'x'.repeat(5000)}`)).toBeUndefined()
  expect(gitBranch('/dev/null/x')).toBeUndefined()
})

it('an agent whose directory may not be entered is listed with its trouble', () => {
  const root = scratch()
  const closed = join(root, 'closed')
  mkdirSync(join(closed, 'work'), { recursive: true })
  const env = { ...environmentIn(root), SKEIN_HOME: join(root, 'home') }
  mkdirSync(env.SKEIN_HOME)
  writeFileSync(join(env.SKEIN_HOME, 'config.toml'), '[daemon]\nautostart = false\n')
  const skein = (...words: string[]) => {
    const [program = '', ...args] = [...withoutRightsOfRoot, process.execPath, BINARY, ...words]
    return spawnSync(program, args, { env, encoding: 'utf8' })
  }
  expect(skein('spawn', join(closed, 'work'), '--agent', 'bad', '--tool', 'claude').status).toBe(0)
  expect(skein('spawn', root, '--agent', 'good', '--tool', 'claude').status).toBe(0)
  chmodSync(closed, 0)
  const listed = skein('list', '--all', '--json')
  chmodSync(closed, 0o700)
  const { agents } = JSON.parse(listed.stdout) as { agents: { address: string; cwd_problem?: string }[] }
  expect(agents.map(({ address, cwd_problem }) => [address, cwd_problem])).toEqual([
    ['bad', expect.stringContaining('cannot be used (EACCES)')],
    ['good', undefined],
  ])
})

it('a hook that names a log which cannot be is taken in, and nobody fails over it', async () => {
  const claude = RUNNERS.find(({ name }) => name === 'claude')
  const { agents, home, project } = await workshop({
    runners: [{ ...fakeTool(), readMessage: (message) => claude?.readMessage(message) }],
  })
  const { agent } = await agents.start({ cwd: project, agent: 'web/one' })
  const run = (await agents.runs())[0]
  const header = { v: 1, agent: agent.id, run: run?.run?.id, tool: 'fake', pid: agent.pid }
  for (const [at, log] of ['/dev/null/x.jsonl', `/${'x'.repeat(5000)}`, '/dev/zero', '/proc/self/mem'].entries()) {
    const said = {
      hook_event_name: 'UserPromptSubmit',
      session_id: agent.session_id,
      transcript_path: log,
      prompt: 'x',
    }
    const message = `${JSON.stringify(header)}\n${JSON.stringify(said)}`
    writeFileSync(join(home.paths.spool, `${Date.now()}00000${at}-1.msg`), message)
    const [seen] = await agents.list()
    expect(seen?.address).toBe('web/one')
    expect((await agents.runs())[0]?.binding?.log).toBe(log)
    // Its screen, in the end: what it names is no log.
    expect((await agents.output('web/one')).from).toBe('screen')
  }
  await agents.kill('web/one')
})

it('an agent whose file a newer Skein wrote is listed as unknown among the others, and no command touches it', async () => {
  const { agents, home, project } = await workshop()
  const { id } = await agents.spawn({ cwd: project, agent: 'web/newer' })
  await agents.start({ cwd: project, agent: 'web/good' })
  const file = join(home.paths.agents, `${id}.json`)
  writeFileSync(file, '{"v":2}')
  const found = await agents.list()
  const reason = `${file} was written by a newer Skein`
  expect(found.find((one) => one.id === id)).toMatchObject({ status: 'unknown', reason })
  expect(found.find(({ address }) => address === 'web/good')).toMatchObject({ status: 'idle' })
  expect((await agents.why('web/newer')).evidence).toMatchObject([{ source: 'process', status: 'unknown', reason }])
  for (const refused of [agents.start({ agent: 'web/newer' }), agents.stop('web/newer'), agents.restart('web/newer')])
    await expect(refused).rejects.toMatchObject({ code: 'newer-format' })
  expect(readFileSync(file, 'utf8')).toBe('{"v":2}')
})
