// Installs the pinned programs into a cache outside the repository. This is the only place that uses the network: the tests
// themselves run without one.
import { execFile } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { arch, platform } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Installs what is missing and returns the directory of each program by its name. */
export async function installPrograms(cache) {
  const programs = JSON.parse(readFileSync(new URL('programs.json', import.meta.url), 'utf8'))
  const home = join(cache, 'skein-test')
  mkdirSync(home, { recursive: true })
  const places = {}
  // One after the other: each is one large download, and npm's own cache is shared.
  for (const [name, program] of Object.entries(programs)) {
    places[name] = join(home, `${name}-${program.version}`)
    if (!existsSync(places[name])) await install(home, places[name], program)
  }
  return places
}

/** Made beside its place and moved there whole, so a run that is killed leaves no half of it and two runs cannot mix. */
async function install(home, place, { packages, commands }) {
  console.error(`Installing ${packages.map(forThisMachine).join(' and ')} ...`)
  const making = mkdtempSync(join(home, '.installing-'))
  try {
    writeFileSync(join(making, 'package.json'), '{"private":true}\n')
    const npm = ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error']
    await run('npm', [...npm, ...packages.map(forThisMachine)], { cwd: making, maxBuffer: 1 << 24 })
    mkdirSync(join(making, 'bin'))
    for (const [command, candidates] of Object.entries(commands)) link(making, command, candidates.map(forThisMachine))
    renameSync(making, place)
  } catch (error) {
    rmSync(making, { recursive: true, force: true })
    if (!existsSync(place)) throw error // else another run has put it there in the meantime
  }
}

/** Programs whose install script would have put the native binary in place are linked to it here: those scripts do not run. */
function link(making, command, candidates) {
  const found = candidates.find((path) => existsSync(join(making, 'node_modules', path)))
  if (!found) throw new Error(`${command} has no program for this machine: looked for ${candidates.join(', ')}`)
  symlinkSync(join('..', 'node_modules', found), join(making, 'bin', command))
}

const forThisMachine = (text) => text.replace('{platform}', platform()).replace('{arch}', arch())
