// Installs what the tests and the demo need beyond npm. Needs root and apt; otherwise it says in one line what is missing.
// --real adds what only the tests with other programs need.
import { execFileSync, spawnSync } from 'node:child_process'

/** Command to look for, and the Debian package that brings it. */
const NEEDED = [
  { command: 'git', debian: 'git' },
  { command: 'tmux', debian: 'tmux' },
  { command: 'unshare', debian: 'util-linux' },
  { command: 'setpriv', debian: 'util-linux' },
  { command: 'zsh', debian: 'zsh' },
  { command: 'fish', debian: 'fish' },
  ...(process.argv.includes('--real')
    ? [
        { command: 'chromium', debian: 'chromium' },
        { command: 'ip', debian: 'iproute2' },
      ]
    : []),
]

const isPresent = ({ command }) => spawnSync('sh', ['-c', `command -v ${command}`], { stdio: 'ignore' }).status === 0
const missing = NEEDED.filter((need) => !isPresent(need))

if (missing.length > 0) {
  const packages = [...new Set(missing.map((need) => need.debian))]
  const canInstall = process.getuid?.() === 0 && isPresent({ command: 'apt-get' })
  if (!canInstall) {
    console.error(
      `Missing: ${packages.join(', ')}. Install them (Debian: sudo apt-get install ${packages.join(' ')}) and run this again.`,
    )
    process.exit(1)
  }
  console.error(`Installing ${packages.join(', ')} ...`)
  const options = { stdio: ['ignore', 'ignore', 'inherit'], env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } }
  execFileSync('apt-get', ['update', '-qq'], options)
  execFileSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...packages], options)
}
