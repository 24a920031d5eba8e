import { dirname, join } from 'node:path'
import { isThere } from '../../../disk/index.js'
import { InstalledHooks } from '../../../lifecycle/index.js'
import { programPath, type ToolRunner } from '../../../tools/index.js'
import type { Cli } from '../../command.js'
import { DEFAULT_PROFILE } from '../../global-options.js'

/** The hooks in the user's settings, and the tools that are meant: those named, else those of `wanted`. */
export async function chosenHooks(
  { home, answering, daemon, profile }: Cli,
  named: readonly string[],
  wanted: 'used' | 'all',
): Promise<{ hooks: InstalledHooks; chosen: ToolRunner[] }> {
  const open = await home()
  const [runners, environment] = await Promise.all([open.programs.runners(), open.programs.environment()])
  const isUsed = (runner: ToolRunner): boolean => {
    const path = runner.install?.path(environment)
    if (path === undefined) return false
    const folder = dirname(runner.install?.kind === 'file' ? dirname(path) : path)
    return isThere(folder) || programPath(runner.name, environment) !== undefined
  }
  const all = runners.all.filter(({ install }) => install !== undefined)
  const chosen =
    named.length > 0 ? named.map((name) => runners.named(name)) : wanted === 'all' ? all : all.filter(isUsed)
  const env = {
    ...(daemon.env.SKEIN_HOME ? { SKEIN_HOME: answering.root } : {}),
    ...(profile === DEFAULT_PROFILE ? {} : { SKEIN_PROFILE: profile }),
  }
  const spool = join(open.directory, 'spool')
  const { node, program, root } = answering
  return { hooks: new InstalledHooks(root, environment, { node, program, spool, env }), chosen }
}
