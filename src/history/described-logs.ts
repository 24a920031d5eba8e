import type { Config } from '../settings/index.js'
import { describeLogs, parseCustomTools, RUNNERS } from '../tools/index.js'

/** Makes the logs readable that the user's own tools describe. Returns the names of those tools. */
export async function describedLogs(config: Config): Promise<string[]> {
  const builtIn = RUNNERS.map(({ name }) => name)
  return describeLogs(await config.tools((tools, file) => parseCustomTools(tools, file, builtIn)))
}
