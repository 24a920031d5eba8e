export { makeProgress } from './progress.js'
export { runCli } from './run-cli.js'
export { safeText } from './safe-text.js'
export type { Profiles, World } from './world.js'
