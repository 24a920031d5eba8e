import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, expect, it } from 'vitest'
import { displayWidth } from '../../src/cli/screen/display-width.js'
import { openDatabase } from '../../src/disk/index.js'
import { BINARY, environmentIn, run, shell } from './binary.js'
import { buildWorld, scratch } from './world.js'

/** A scratch directory with an environment, and the world of the examples in it when asked for. */
async function place(options: { world?: boolean; env?: Record<string, string> } = {}) {
  const directory = scratch()
  const env = environmentIn(directory.path, options.env)
  if (options.world) await buildWorld(join(directory.path, 'home'))
  return { path: directory.path, env, [Symbol.dispose]: () => directory[Symbol.dispose]() }
}

/** Takes root, and a checkout that others may read. */
const STRANGER = ['--reuid=54321', '--clear-groups']
const canBeAStranger =
  spawnSync('setpriv', [...STRANGER, process.execPath, BINARY, '--version'], {
    env: { ...process.env, HOME: '/' },
  }).status === 0

describe('a script', () => {
  it('captures the id of a session it starts, hands off and ends', async () => {
    using at = await place()
    const line = `
      first=$(skein session start --id one --tool claude --work wk-1) &&
      second=$(skein session handoff "$first" --subject "go on") &&
      skein session step start tests "$second" && skein session step complete tests "$second" &&
      SKEIN_SESSION=$second skein session end --outcome done &&
      skein sessions chain wk-1 --json`
    const { stdout, stderr, exitCode } = await shell(line, at.env)
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 })
    const { chains } = JSON.parse(stdout.slice(stdout.indexOf('{')))
    expect(chains[0].sessions.map((one: { outcome: string }) => one.outcome)).toEqual(['handoff', 'done'])
  })

  it('starts a session where it stands, unless it says otherwise', async () => {
    using at = await place()
    const started = await run(BINARY, ['session', 'start', '--json'], { env: at.env, cwd: at.path })
    expect(JSON.parse(started.stdout).cwd).toBe(realpathSync(at.path))
    const told = await run(BINARY, ['session', 'start', '--cwd', '/srv', '--json'], { env: at.env, cwd: at.path })
    expect(JSON.parse(told.stdout).cwd).toBe('/srv')
  })

  it('finds nothing on stdout when a command fails, one line on stderr, and the kind of failure in the exit code', async () => {
    using at = await place({ world: true })
    const gone = await shell('skein sessions show nope', at.env)
    expect(gone).toEqual({
      stdout: '',
      stderr: 'skein: No session matches "nope". Try: skein sessions list\n',
      exitCode: 1,
    })
    const twice = await shell('skein session end 7d20b1c4 --outcome done', at.env)
    expect(twice.exitCode).toBe(1)
    expect(twice.stderr).toMatch(/^skein: Session 7d20b1c4-second has already ended \(crash\)\. .+\n$/)
    expect((await shell('skein agents add web//x --tool pi', at.env)).exitCode).toBe(2)
    expect((await shell('skein agents add web/toast --tool pi', at.env)).exitCode).toBe(1)
    expect((await shell('skein --profile nope sessions list', at.env)).exitCode).toBe(1)
    expect((await shell('skein profile create ../escape', at.env)).exitCode).toBe(2)
  })

  it('sees a stack only when it asks for one', async () => {
    using at = await place()
    expect((await shell('skein sessions show nope', at.env)).stderr.trimEnd()).not.toContain('\n')
    expect((await shell('SKEIN_DEBUG=1 skein sessions show nope', at.env)).stderr).toContain('\n    at ')
  })
})

describe('a day', () => {
  it.each([
    ['Europe/Berlin', 'Europe/Berlin'],
    [':Europe/Berlin', 'Europe/Berlin'],
    ['/usr/share/zoneinfo/Europe/Berlin', 'Europe/Berlin'],
    ['UTC+3', 'Etc/GMT+3'],
    ['', 'UTC'],
    ['no/such zone', 'UTC'],
  ])('is one of the zone that TZ=%j names, however it does', async (TZ, zone) => {
    using at = await place({ env: { TZ } })
    for (const how of ['', '--no-index']) {
      const { stdout, stderr, exitCode } = await shell(`skein cost --json ${how}`, at.env)
      expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 })
      expect(JSON.parse(stdout).zone).toBe(zone)
    }
  })
})

describe('a home', () => {
  it('lies where the XDG rules say when SKEIN_HOME is not set', async () => {
    using at = await place({ env: { SKEIN_HOME: '' } })
    const { stdout } = await shell(
      'skein session start >/dev/null && skein profile list --json && skein events config --json',
      at.env,
    )
    expect(stdout).toContain(`"directory": "${at.path}/.local/share/skein/profiles/default"`)
    expect(stdout).toContain(`"config_file": "${at.path}/.config/skein/config.toml"`)
  })

  it('that cannot be one is explained in one line', async () => {
    using at = await place()
    writeFileSync(join(at.path, 'file'), '')
    symlinkSync(join(at.path, 'gone'), join(at.path, 'dangling'))
    const homes = {
      [join(at.path, 'file')]: /\/file is not what Skein expects there/,
      [join(at.path, 'file', 'deep')]: /\/file\/deep is not what Skein expects there/,
      [join(at.path, 'dangling')]: /\/dangling is not what Skein expects there/,
      '/dev/null/x': /\/dev\/null\/x is not what Skein expects there/,
      '/proc/x': /\/proc\/x (does not exist and cannot be created|is read-only)/,
      [`/${'deep/'.repeat(1000)}`]: /A path of \d+ characters is too long/,
    }
    for (const [SKEIN_HOME, words] of Object.entries(homes)) {
      const { stderr, exitCode } = await shell('skein sessions list', { ...at.env, SKEIN_HOME })
      expect(exitCode).toBe(1)
      expect(stderr).toMatch(words)
      expect(stderr).toMatch(/^skein: .*SKEIN_HOME.*\n$/)
    }
  })

  it.runIf(canBeAStranger)('of a user whom the system does not know needs HOME or SKEIN_HOME', async () => {
    using at = await place()
    chmodSync(at.path, 0o777)
    const as = (line: string, more: string) =>
      run('setpriv', [...STRANGER, 'env', '-u', 'HOME', more, 'sh', '-c', line], { env: at.env })
    const lost = await as('skein sessions list', 'SKEIN_HOME=')
    expect(lost).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/^skein: .*your home directory.*HOME.*\n$/),
    })
    expect(await as('skein --version', 'SKEIN_HOME=')).toMatchObject({ exitCode: 0, stderr: '' })
    const told = await as('skein sessions list', `SKEIN_HOME=${join(at.path, 'own')}`)
    expect(told).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('No sessions match') })
  })

  it.runIf(canBeAStranger)('beside notes of a tool that are forbidden reads the logs all the same', async () => {
    using at = await place()
    const put = (path: string, content: object | string, mode: number): void => {
      mkdirSync(join(at.path, path, '..'), { recursive: true })
      writeFileSync(join(at.path, path), `${JSON.stringify(content)}\n`)
      chmodSync(join(at.path, path), mode)
    }
    const id = '11111111-1111-4111-8111-111111111111'
    const prompt = {
      type: 'user',
      uuid: 'a',
      parentUuid: null,
      sessionId: id,
      message: { role: 'user', content: 'go' },
    }
    const meta = { type: 'session_meta', payload: { id, forked_from_id: 'x', history_base: { thread_id: 'x' } } }
    put(`.claude/projects/-p/${id}.jsonl`, prompt, 0o644)
    put('.claude/history.jsonl', { display: '/clear', sessionId: id, project: '/p', timestamp: 1 }, 0)
    put(`.codex/sessions/rollout-1-${id}.jsonl`, meta, 0o644)
    put('.codex/sessions/rollout-1-x.jsonl', meta, 0)
    put('.gemini/tmp/p/chats/session-1.jsonl', { sessionId: 'g', startTime: '2026-01-01T00:00:00.000Z' }, 0o644)
    put('.gemini/tmp/p/.project_root', '/p', 0)
    chmodSync(at.path, 0o777)
    const { stdout, stderr, exitCode } = await run('setpriv', [...STRANGER, BINARY, 'ingest'], { env: at.env })
    expect({ stdout, exitCode }).toEqual({ stdout: expect.stringMatching(/^Read 3 of 4 logs/), exitCode: 0 })
    expect(stderr).toMatch(/^Could not read [^\n]*rollout-1-x\.jsonl \(EACCES\)\n$/)
  })

  it.runIf(canBeAStranger)('names a directory of logs that it may not look into', async () => {
    using at = await place()
    const id = '11111111-1111-4111-8111-111111111111'
    const reply = {
      ...{ type: 'assistant', uuid: 'a', parentUuid: null, sessionId: id, timestamp: '2026-01-01T00:00:00.000Z' },
      message: { id: 'm', model: 'claude-opus-4-5', role: 'assistant', content: [], usage: { output_tokens: 1 } },
    }
    for (const project of ['-open', '-closed']) {
      mkdirSync(join(at.path, '.claude/projects', project), { recursive: true })
      writeFileSync(join(at.path, '.claude/projects', project, `${id}.jsonl`), `${JSON.stringify(reply)}\n`)
    }
    chmodSync(join(at.path, '.claude/projects/-closed'), 0)
    chmodSync(at.path, 0o777)
    const asStranger = (...args: string[]) => run('setpriv', [...STRANGER, BINARY, ...args], { env: at.env })
    const { stdout, stderr, exitCode } = await asStranger('ingest')
    expect({ stdout, exitCode }).toEqual({ stdout: expect.stringMatching(/^Read 1 of 1 log /), exitCode: 0 })
    expect(stderr).toMatch(/^Could not read [^\n]*projects\/-closed \(EACCES\)\n$/)
    const { stderr: warned } = await asStranger('cost', '--no-index')
    expect(warned).toMatch(/-closed \(EACCES\): the totals do not include it/)
    chmodSync(join(at.path, '.claude/projects/-closed'), 0o700)
  })

  it('with settings that cannot be read is explained in one line', async () => {
    using at = await place()
    mkdirSync(join(at.path, 'home'))
    writeFileSync(join(at.path, 'home', 'config.toml'), 'this is = = not toml')
    const { stderr, exitCode } = await shell('skein events config', at.env)
    expect(exitCode).toBe(2)
    expect(stderr).toMatch(/^skein: .*config\.toml.*\n$/)
  })

  it('answers in a directory that is gone, unless that is asked about', async () => {
    using at = await place({ world: true })
    const inGone = (line: string) =>
      shell(`mkdir ${at.path}/gone && cd ${at.path}/gone && rmdir ../gone && ${line}`, at.env)
    // The shell that starts Node may complain about the directory, too.
    const ours = ({ stderr, exitCode }: { stderr: string; exitCode: number | null }) => ({
      stderr: stderr.replace(/^sh: .*getcwd.*\n/m, ''),
      exitCode,
    })
    for (const line of ['sessions list --all', 'sessions find x', 'cost', 'search nothing-at-all'])
      expect((await inGone(`skein ${line}`)).stderr, line).not.toContain('skein: The current directory')
    expect(ours(await inGone('skein sessions list --all'))).toEqual({ exitCode: 0, stderr: '' })
    await shell('skein agents add web/gone --tool claude --project /srv/gone', at.env)
    for (const line of ['prime', 'status', 'prime --state']) {
      const told = await inGone(`SKEIN_AGENT=web/gone skein ${line}`)
      expect({ line, ...ours(told) }).toEqual({ line, exitCode: 0, stderr: '' })
    }
    const hooked = await inGone('echo "{}" | SKEIN_AGENT=web/gone skein prime --hook')
    expect(hooked.stdout).toContain('You are the agent web/gone')
    expect(ours(await inGone('skein privacy check'))).toEqual({
      stderr: 'skein: The current directory no longer exists. Change to an existing directory (cd)\n',
      exitCode: 2,
    })
  })

  it('of another profile is its own world', async () => {
    using at = await place({ world: true })
    expect((await shell('skein --profile play sessions list --json', at.env)).stdout).toBe('{\n  "sessions": []\n}\n')
    expect((await shell('SKEIN_PROFILE=play skein agents list --json', at.env)).stdout).toBe(
      '{\n  "agents": [],\n  "groups": []\n}\n',
    )
    expect((await shell('skein agents list --profile=default --json', at.env)).stdout).toContain('web/toast')
  })
})

describe('a reader', () => {
  it('says that there was no room for its output, and fails', async () => {
    using at = await place()
    // The limit stands for a full disk; the signal that goes with it is ignored, as it is by most that redirect to a file.
    const full = await shell(`trap '' XFSZ; ulimit -f 0; skein --help > ${join(at.path, 'out')}`, at.env)
    expect(full).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('skein: No space left for the output') })
    expect(await shell('skein --help > /dev/full', at.env)).toMatchObject({ exitCode: 1 })
  })

  it('that has seen enough ends the command quietly', async () => {
    using at = await place({ world: true })
    const line =
      'set -o pipefail; for i in 1 2 3; do skein events tail --json -n 1000 | head -n 1 >/dev/null; done; yes | head -c 1 | skein sessions list | head -n 1'
    const { stdout, stderr, exitCode } = await run('bash', ['--norc', '-c', line], { env: at.env })
    expect({ stderr, stdout: stdout.slice(0, 7) }).toEqual({ stderr: '', stdout: 'SESSION' })
    expect([0, 141]).toContain(exitCode) // `yes` dies of its pipe; skein must not
  })

  it('that follows the journal sees what others write, and leaves with Ctrl-C', async () => {
    using at = await place()
    const follower = spawn(BINARY, ['events', 'tail', '-f', '--type', 'mail', '--json'], { env: at.env })
    let stderr = ''
    follower.stderr.on('data', (text) => (stderr += text))
    const lines = createInterface({ input: follower.stdout })[Symbol.asyncIterator]()
    await shell(
      'skein events append mail --payload \'{"subject":"one"}\' && skein events append nudge && skein events append mail',
      at.env,
    )
    expect(JSON.parse((await lines.next()).value)).toMatchObject({ type: 'mail', payload: { subject: 'one' } })
    expect(JSON.parse((await lines.next()).value)).toMatchObject({ type: 'mail', payload: {} })
    follower.kill('SIGINT')
    const [exitCode] = await once(follower, 'close')
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  })
})

describe('a terminal', () => {
  /** Runs a line in a real pseudo-terminal of this width. */
  const onTerminal = async (line: string, columns: number, env: Record<string, string>): Promise<string[]> => {
    const { stdout } = await run('script', ['-qec', `stty cols ${columns} -onlcr; ${line}`, '/dev/null'], { env })
    return stdout.split('\n').filter((one) => one !== '')
  }
  const unpainted = (line: string): string => line.replace(/\x1b\[\d+m/g, '')

  it('gets tables that fit its width, in colours', async () => {
    using at = await place({ world: true })
    const lines = await onTerminal('skein sessions list', 60, at.env)
    expect(lines).toHaveLength(9)
    expect(Math.max(...lines.map((line) => displayWidth(unpainted(line))))).toBeLessThanOrEqual(60)
    expect(lines.join('')).toContain('\x1b[32mactive')
  })

  it('gets no colours when they are not wanted', async () => {
    using at = await place({ world: true })
    expect((await onTerminal('skein sessions list --no-color', 100, at.env)).join('')).not.toContain('\x1b')
    expect((await onTerminal('skein sessions list', 100, { ...at.env, NO_COLOR: '1' })).join('')).not.toContain('\x1b')
  })

  it('is never reached by an escape sequence that came from data', async () => {
    using at = await place({ env: { NO_COLOR: '1' } })
    const evil = '\x1b]0;owned\x07\x1b[2J\u202e\u009b31m\nsecond line'
    const env = { ...at.env, EVIL: evil }
    const start = await shell(
      'skein session start --id x --tool "$EVIL" --title "$EVIL" --work "$EVIL" --branch "$EVIL"',
      env,
    )
    expect(start.stderr).toBe('')
    await shell('skein session step start "$EVIL" x; skein session end x --outcome crash --reason "$EVIL"', env)
    await shell(
      'skein agents add web/x --tool "$EVIL" --title "$EVIL"; skein events append mail --payload "{\\"subject\\":\\"\\u001b[2J\\"}"',
      env,
    )
    const shown = [
      'sessions list',
      'sessions show x',
      'sessions chain x',
      'sessions tree x',
      'sessions find "$EVIL"',
      'agents list',
      'agents show web/x',
      'events tail',
      'events tail --json',
      'sessions show x --json',
      'sessions show "$EVIL"',
      'sessions list --agent "$EVIL" --tool "$EVIL"',
    ]
    const lines = await onTerminal(shown.map((command) => `skein ${command}`).join('; '), 100, env)
    expect(lines.join('\n')).toContain('\\x1b]0;owned\\x07')
    expect(lines.join('\n')).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]/)
  })
})

describe('an index', () => {
  it('that differs from the journal fails its check, says how, and is right again after a rebuild', async () => {
    using at = await place({ world: true })
    const database = openDatabase(join(at.path, 'home', 'profiles', 'default', 'index.db'))
    database.exec("delete from sessions where id = '5e8fa07b-active'")
    database.close()
    const checked = await shell('skein index check', at.env)
    expect(checked.exitCode).toBe(1)
    expect(checked.stdout).toMatch(/^The index differs from the journal:\n {2}.*5e8fa07b-active/)
    expect(checked.stderr).toBe('Repair it: skein index rebuild\n')
    const asJson = await shell('skein index check --json', at.env)
    expect({ ok: JSON.parse(asJson.stdout).ok, exitCode: asJson.exitCode }).toEqual({ ok: false, exitCode: 1 })
    expect((await shell('skein index rebuild >/dev/null && skein index check', at.env)).stdout).toMatch(
      /^The index is correct/,
    )
  })
})
