import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { ensureDaemon, stopDaemon } from '../../src/daemon/index.js'
import { beforeCompaction } from '../../src/lifecycle/handoff/before-compaction.js'
import { BINARY } from '../cli/binary.js'
import { profilesUnder } from '../cli/world.js'
import { context } from '../terminal/scratch.js'
import { scratchHome, until } from './scratch.js'

const FAKE = fileURLToPath(new URL('../workers/fake-agent.mjs', import.meta.url))

it('the daemon saves where an agent is after every turn and before a compaction, keeps notes, and done clears it', async () => {
  const { root, access } = scratchHome()
  const project = join(root, 'project')
  mkdirSync(project, { recursive: true })
  const git = (...args: string[]): void => void execFileSync('git', ['-C', project, ...args], { stdio: 'ignore' })
  git('init', '-b', 'topic')
  const socket = join(root, 'tmux.sock')
  const env = { PATH: process.env.PATH ?? '', HOME: root, SKEIN_HOME: root }
  writeFileSync(
    join(root, 'config.toml'),
    `[tools.demo]\ncommand = "${process.execPath} ${FAKE}"\nidle_patterns = ["re:^>"]\nbusy_patterns = ["WORKING"]\n[daemon]\nautostart = false\ningest = false\n[notify]\nby = []\n[tmux]\nsocket = "${socket}"\n[roles]\npreset = "gastown"\n`,
  )
  const skein = (...args: string[]): string =>
    execFileSync(process.execPath, [BINARY, ...args], { env, cwd: project, encoding: 'utf8', timeout: 60_000 })
  const home = await profilesUnder(root).open('default')
  onTestFinished(async () => {
    await stopDaemon(access)
    try {
      execFileSync('tmux', ['-S', socket, 'kill-server'], { stdio: 'ignore' })
    } catch {
      // gone with its last agent
    }
    await home[Symbol.asyncDispose]()
  })
  skein('start', '.', '--agent', 'toast', '--tool', 'demo')
  await ensureDaemon(access)
  const { id } = await home.roster.agent('toast')
  const path = join(home.paths.agents, id, 'checkpoint.json')
  const saved = (): Record<string, unknown> => (existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {})

  writeFileSync(join(project, 'first.txt'), 'a')
  skein('send', 'toast', 'go on', '--wait', '--timeout', '30s')
  await until(() => Array.isArray(saved().modified_files))
  expect(saved()).toMatchObject({ branch: 'topic', modified_files: ['first.txt'] })
  const gastown = join(project, '.polecat-checkpoint.json')
  expect(JSON.parse(readFileSync(gastown, 'utf8'))).toEqual(saved())

  skein('checkpoint', 'write', '--agent', 'toast', '--notes', 'the parser is done')
  const noted = saved()
  writeFileSync(join(project, 'second.txt'), 'b')
  await beforeCompaction({ home, context }, { agent: 'toast' })
  await until(() => saved().timestamp !== noted.timestamp)
  expect(saved()).toMatchObject({ notes: 'the parser is done', modified_files: ['first.txt', 'second.txt'] })

  skein('done', 'toast')
  expect([existsSync(path), existsSync(gastown)]).toEqual([false, false])
})
