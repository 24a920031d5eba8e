import { join } from 'node:path'
import { configuredParts, type Parts } from '../../../src/lifecycle/index.js'
import { contextOf } from '../context.js'
import { fakeTool } from '../fake-tool.js'
import type { Workshop } from '../workshop.js'

/** The parts of a workshop, for what works below its agents. */
export async function partsOf({ home, root, socket }: Workshop): Promise<Parts> {
  const facts = { ownRoot: root, temporary: root, userId: undefined }
  const configured = await configuredParts({
    home,
    context: contextOf([]),
    configFile: join(root, 'config.toml'),
    facts,
  })
  return { ...configured, socket: { path: socket }, runners: [fakeTool(), fakeTool({ name: 'mute', tells: false })] }
}
