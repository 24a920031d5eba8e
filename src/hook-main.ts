import { writeSync } from 'node:fs'
import { hostname } from 'node:os'
import { fileURLToPath } from 'node:url'
import { boundedInput } from './disk/index.js'
import { openHome } from './home/index.js'
import { answerHook, HOOK_LIMIT_MS, type HookQuestion } from './lifecycle/index.js'
import type { Context } from './model/index.js'
import { actorName, homeLocation, randomBytes, settleHome, surroundings, workingDirectory } from './surroundings.js'

// `skein hook <event>` and `skein prime --hook` by themselves: an agent waits for it at its start. Whatever happens, it ends soon, with 0, and prints an answer or nothing.
setTimeout(() => process.exit(0), HOOK_LIMIT_MS)
process.on('uncaughtException', () => process.exit(0))
process.on('unhandledRejection', () => process.exit(0))
const context: Context = {
  clock: { now: Date.now },
  random: { bytes: randomBytes, uuid: () => crypto.randomUUID() },
  warn: () => {},
  progress: () => {},
  get actor() {
    return actorName()
  },
  get host() {
    return hostname()
  },
}
settleHome()
const userId = process.geteuid?.()
const [command, ...words] = process.argv.slice(2)
answerHook(questionOf(command === 'prime' ? ['SessionStart', '--text', ...words] : words), {
  context,
  env: process.env,
  get cwd() {
    return workingDirectory()
  },
  input: (limits) => boundedInput(0, limits),
  detach: async (args, options) => {
    const program = fileURLToPath(new URL('../../bin/skein.js', import.meta.url))
    return (await import('./cli/detach.js')).detachProgram({ program, args, env: process.env, ...options })
  },
  untilEnded: () => new Promise(() => {}), // until the timer above
  open: ({ root, configFile, profile }) =>
    openHome({
      root: root ?? homeLocation().root,
      configFile: configFile ?? homeLocation().configFile,
      profile: profile ?? (process.env.SKEIN_PROFILE || 'default'),
      context,
      surroundings: surroundings(),
      ...(userId === undefined ? {} : { userId }),
    }),
}).then(
  (answer) => {
    if (answer !== '') writeSync(1, `${answer}\n`)
    process.exit(0) // what is stored is stored; closing a home takes time that the agent would wait for
  },
  () => process.exit(0),
)

function questionOf(words: readonly string[]): HookQuestion {
  const given = (option: string): string | undefined => {
    const at = words.indexOf(option)
    return at < 0 ? undefined : words[at + 1]
  }
  const [run, pid, tool] = [given('--run'), Number(given('--pid')), given('--tool')]
  const values = new Set(['--run', '--pid', '--tool'].flatMap((option) => words.indexOf(option) + 1 || []))
  return {
    event: words.find((word, at) => !word.startsWith('-') && !values.has(at)) ?? '',
    isText: words.includes('--text'),
    ...(run === undefined ? {} : { run }),
    ...(Number.isSafeInteger(pid) && pid > 1 ? { pid } : {}),
    ...(tool === undefined ? {} : { tool }),
  }
}
