// ccusage 20, a Rust binary: the peer whose scan of the same logs is the reference.
// It is installed from npm into the temporary directory unless --peer=<binary> names it; it is run directly, without its launcher.
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const PEER = 'ccusage@20.0.24'

export function ccusage() {
  const given = process.argv.find((flag) => flag.startsWith('--peer='))
  return given ? given.slice('--peer='.length) : installPeer()
}

function installPeer() {
  const directory = join(tmpdir(), `skein-bench-${PEER}`)
  const binary = join(
    directory,
    'node_modules',
    '@ccusage',
    `ccusage-${process.platform}-${process.arch}`,
    'bin',
    'ccusage',
  )
  if (!existsSync(binary)) {
    mkdirSync(directory, { recursive: true })
    execFileSync('npm', ['install', '--no-save', '--ignore-scripts', '--prefix', directory, PEER], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, NODE_EXTRA_CA_CERTS: process.env.BENCH_EXTRA_CA_CERTS ?? '' },
    })
  }
  chmodSync(binary, 0o755) // no install script ran to do it
  return binary
}
