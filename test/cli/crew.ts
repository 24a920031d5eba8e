import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished } from 'vitest'
import type { World } from '../../src/cli/world.js'
import { endAgents } from './agent-prelude.js'
import { type } from './typed.js'
import { agentsUnder, daemonUnder, profilesUnder, scratch } from './world.js'

const PROGRAM = fileURLToPath(new URL('../workers/fake-agent.mjs', import.meta.url))

/** A home with agents that can be started, none of which runs yet: web/a, web/b and back/c. */
export async function crew(outside: Partial<World> = {}) {
  const at = scratch()
  const root = at.path
  onTestFinished(() => {
    endAgents(root)
    at[Symbol.dispose]()
  })
  const command = JSON.stringify([process.execPath, PROGRAM])
  writeFileSync(
    join(root, 'config.toml'),
    `[daemon]\nautostart = false\n[tools.demo]\ncommand = ${command}\nidle_patterns = ["re:^>"]\nbusy_patterns = ["WORKING"]\n`,
  )
  const world = {
    profiles: profilesUnder(root),
    agents: agentsUnder(root),
    daemon: daemonUnder(root),
    cwd: root,
    now: Date.now,
    ...outside,
  }
  const skein = async (...args: string[]) => {
    const { stdout, stderr, exitCode } = await type(args, world)
    return { stdout, stderr, exitCode, document: args.includes('--json') && stdout !== '' ? JSON.parse(stdout) : {} }
  }
  for (const address of ['web/a', 'web/b', 'back/c']) {
    mkdirSync(join(root, address), { recursive: true })
    expect((await skein('spawn', address, '--agent', address, '--tool', 'demo')).exitCode).toBe(0)
  }
  const statuses = async () => {
    const { document } = await skein('list', '--json')
    return Object.fromEntries(
      document.agents.map((agent: { address: string; status: string }) => [agent.address, agent.status]),
    )
  }
  return { root, skein, statuses }
}
