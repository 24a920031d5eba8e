// Installs the pinned programs into a cache outside the repository. This is the only place that uses the network: the tests
// themselves run without one.
import { execFile } from 'node:child_process'
import {
  cpSync,
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
    if (existsSync(places[name])) continue
    if (program.module === undefined) await install(home, places[name], program)
    else await buildIfWanted(home, places[name], name, program)
  }
  return places
}

/** Building takes many minutes of all cores: only whoever asks for it waits for it. Tests that need what is missing are skipped and counted. */
async function buildIfWanted(home, place, name, program) {
  const hasGo = await run('go', ['version']).then(
    () => true,
    () => false,
  )
  if (hasGo && process.env.SKEIN_TEST_BUILD === '1') return build(home, place, program)
  const why = hasGo
    ? 'not built (SKEIN_TEST_BUILD=1 builds it, which takes more than ten minutes on two cores)'
    : 'no Go'
  console.error(`The tests with ${name} are skipped: ${why}`)
}

/** From a copy of the module: `go install` refuses one that replaces other modules. */
async function build(home, place, { module, commands }) {
  console.error(`Building ${module} ...`)
  const making = mkdtempSync(join(home, '.installing-'))
  try {
    const go = { GOPATH: join(making, 'go'), GOCACHE: join(making, 'cache'), GOFLAGS: '-mod=mod -modcacherw' }
    const options = { cwd: making, env: { ...process.env, ...go, GOTOOLCHAIN: 'local' }, maxBuffer: 1 << 24 }
    const { stdout } = await run('go', ['mod', 'download', '-json', module], options)
    cpSync(JSON.parse(stdout).Dir, join(making, 'source'), { recursive: true })
    for (const [command, [source]] of Object.entries(commands)) {
      const args = ['build', '-buildvcs=false', '-o', join(making, 'bin', command), source]
      await run('go', args, { ...options, cwd: join(making, 'source') })
    }
    for (const folder of ['go', 'cache', 'source']) rmSync(join(making, folder), { recursive: true, force: true })
    renameSync(making, place)
  } catch (error) {
    rmSync(making, { recursive: true, force: true })
    if (!existsSync(place)) throw error
  }
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
