import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

/**
 * Installs packages into a cache outside the repository, once, and returns the directory. The tests of this folder drive
 * the real programs; the network is used here and nowhere else.
 */
export function installed(name: string, packages: readonly string[]): string {
  const directory = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'skein-test', name)
  if (!packages.every((spec) => existsSync(join(directory, 'node_modules', spec.replace(/(.)@[^@/]*$/, '$1'))))) {
    mkdirSync(directory, { recursive: true })
    writeFileSync(join(directory, 'package.json'), '{"private":true}\n')
    execFileSync('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error', ...packages], {
      cwd: directory,
      stdio: ['ignore', 'ignore', 'inherit'],
    })
  }
  return directory
}

/** The command line that runs a program in a network namespace with nothing but loopback. */
export const offline = (...command: string[]): [string, string[]] => [
  'unshare',
  ['-r', '-n', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh', ...command],
]
