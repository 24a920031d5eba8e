import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { undoDollars } from '../../src/terminal/answer-reader.js'
import { commandLine } from '../../src/terminal/command-line.js'
import { ControlClient } from '../../src/terminal/control-client.js'
import type { PaneInfo, Terminal } from '../../src/terminal/index.js'
import { HOSTILE, UNPASTEABLE } from './hostile-texts.js'
import { eventually, fileText, Scratch, TMUX } from './scratch.js'

const RECORDER = fileURLToPath(new URL('../workers/record-input.mjs', import.meta.url))
const START = '\x1b[200~'
const END = '\x1b[201~'

describe.each([{ kept: true }, { kept: false }])('hostile text, connection kept: $kept', ({ kept }) => {
  const scratch = new Scratch()
  const recorded = join(scratch.path, 'recorded')
  let terminal: Terminal
  let recorder: PaneInfo

  beforeAll(async () => {
    terminal = await scratch.terminal({ kept })
    recorder = await scratch.create(terminal, 'recorder', [process.execPath, RECORDER, recorded])
    await eventually('the program is ready', async () =>
      (await terminal.capture(recorder.pane)).includes('ready') ? true : undefined,
    )
  })
  afterAll(async () => {
    const made = readdirSync(scratch.path, { recursive: true, encoding: 'utf8' })
    await scratch[Symbol.asyncDispose]()
    // None of all that ran anything, wherever it would have been run.
    expect(made.filter((name) => basename(name) === 'pwned')).toEqual([])
    expect(existsSync('pwned') || existsSync('/pwned')).toBe(false)
  })

  const version = execFileSync(TMUX, ['-V'], { encoding: 'utf8' })
  const shown = (...option: string[]): string => {
    const printed = scratch.tmux('show-options', ...option)
    return /3\.4/.test(version) ? undoDollars(printed) : printed
  }
  /** What the program got since the last look, once it ends like this. */
  let taken = 0
  const received = (end: string): Promise<string> =>
    eventually(`input that ends with ${JSON.stringify(end)}`, () => {
      const bytes = existsSync(recorded) ? readFileSync(recorded).subarray(taken) : Buffer.alloc(0)
      if (!bytes.toString().endsWith(end)) return undefined
      taken += bytes.length
      return bytes.toString()
    })

  it('is pasted verbatim, between the marks of a paste, and never as keys', async () => {
    expect(HOSTILE.length).toBeGreaterThanOrEqual(50)
    for (const text of HOSTILE) {
      await terminal.paste(recorder.pane, text)
      expect(await received(END)).toBe(`${START}${text}${END}`)
    }
  })

  it('is pasted verbatim when it is 100 KB long', async () => {
    const text = `${'a line of "text" with $(touch pwned) and #{pane_id}; 日本語\n'.repeat(1_500)}end`
    expect(Buffer.byteLength(text)).toBeGreaterThan(90_000)
    await terminal.paste(recorder.pane, text)
    expect(await received(END)).toBe(`${START}${text}${END}`)
  })

  it('is refused when a terminal would act on it, and nothing of it arrives', async () => {
    for (const text of UNPASTEABLE) {
      await expect(terminal.paste(recorder.pane, text)).rejects.toMatchObject({ code: 'bad-input' })
    }
    await terminal.press(recorder.pane, ['z'])
    expect(await received('z')).toBe('z')
  })

  it('reaches the program key by key where it is one character, and is no key where it is more', async () => {
    for (const character of ['#', ';', '$', '"', "'", '\\', '~', '{', '%', '-', 'é', '日', '👍', ' ']) {
      await terminal.press(recorder.pane, [character])
      expect(await received(character)).toBe(character)
    }
    await terminal.press(recorder.pane, ['a', 'Enter', 'b', 'C-c', 'Escape'])
    expect(await received('\x1b')).toBe('a\rb\x03\x1b')
    for (const text of ['Entr', '', 'C-', 'ab', '\x1b', '-l', '$(touch pwned)']) {
      await expect(terminal.press(recorder.pane, [text])).rejects.toMatchObject({ code: 'bad-key' })
    }
  })

  it('is kept verbatim in options of a pane', async () => {
    for (const [at, text] of HOSTILE.entries()) await terminal.publish(recorder.pane, { [`@skein_test_${at}`]: text })
    for (const [at, text] of HOSTILE.entries()) {
      expect(shown('-pv', '-t', recorder.pane, `@skein_test_${at}`)).toBe(`${text}\n`)
    }
    await terminal.publishToAll('@skein_line', HOSTILE.join(' '))
    expect(shown('-gv', '@skein_line')).toBe(`${HOSTILE.join(' ')}\n`)
    await expect(terminal.publish(recorder.pane, { '@#(touch pwned)': 'x' })).rejects.toMatchObject({
      code: 'bad-input',
    })
  })

  it('is a directory to start in, or does not exist', async () => {
    let started = 0
    for (const [at, text] of HOSTILE.entries()) {
      const cwd = join(scratch.path, `dir-${at}`, text)
      if (Buffer.byteLength(text) < 200 && !text.includes('/')) mkdirSync(cwd, { recursive: true })
      if (!existsSync(cwd)) {
        const script = scratch.script(['sh', '-c', 'pwd -P; exec sleep 600'])
        await expect(terminal.create({ session: `dir-${at}`, cwd, script, agent: text })).rejects.toMatchObject({
          code: 'bad-input',
        })
        continue
      }
      const script = scratch.script(['sleep', '600'])
      const pane = await terminal.create({ session: `dir-${at}`, cwd, script, agent: text })
      expect(pane.agent ?? '').toBe(text)
      expect(await eventually('it got there', () => (isIn(pane, cwd) ? cwd : undefined))).toBe(cwd)
      expect((await terminal.pane(pane.pane)).cwd).toBe(realpathSync(cwd))
      await terminal.respawn(pane.pane, { cwd, script: scratch.script(['sleep', '601']) })
      const again = await terminal.pane(pane.pane)
      await eventually('it got there again', () => (isIn(again, cwd) ? true : undefined))
      await terminal.close(`dir-${at}`)
      started += 1
    }
    expect(started).toBeGreaterThanOrEqual(50)
  })

  it('names a session exactly, or is refused', async () => {
    let named = 0
    for (const text of HOSTILE) {
      const script = scratch.script(['sleep', '600'])
      const pane = await terminal.create({ session: text, cwd: scratch.path, script, agent: 'a' }).catch((error) => {
        expect(error).toMatchObject({ code: 'bad-input' })
        return undefined
      })
      await expect(
        terminal.rename('recorder', text).then(() => terminal.rename(text, 'recorder')),
      ).rejects.toMatchObject({ code: pane ? 'tmux-refused' : 'bad-input' })
      if (!pane) continue
      expect(pane.session).toBe(text)
      await terminal.rename(text, 'other')
      expect((await terminal.pane(pane.pane)).session).toBe('other')
      await terminal.rename('other', text)
      expect((await terminal.pane(pane.pane)).session).toBe(text)
      await terminal.close(text)
      named += 1
    }
    expect(named).toBeGreaterThan(15)
    expect((await terminal.panes()).map((pane) => pane.session)).toEqual(['recorder'])
  })

  it('is shown in the status line as it is', async () => {
    // A client of ours in a pane of another server: what it shows can be read there.
    await using outer = new Scratch()
    const inner = `${TMUX} -u -S ${scratch.socket.path} attach-session -t recorder`
    outer.tmux('-f', '/dev/null', 'new-session', '-d', '-x', '200', '-y', '20', '-s', 'outer', `TERM=screen ${inner}`)
    const screen = () => outer.tmux('capture-pane', '-p', '-t', 'outer')
    await eventually('the client is attached', () => (/leaves/.test(screen()) ? true : undefined))
    expect((await terminal.pane(recorder.pane)).isSeen).toBe(true)
    for (const text of HOSTILE) {
      const line = text.replace(/\s+/g, ' ').trim()
      // Text of which nothing is drawn, or in which the order of drawing is not that of writing.
      if (/3\.2/.test(version) || line === '' || text.length > 150 || /[^\x20-\x7e]/.test(line)) continue
      await terminal.announce(text)
      await eventually(`the line ${line}`, () => (screen().includes(line) ? true : undefined))
    }
    await terminal.announce('rings', { bell: true })
    await eventually('a bell', () =>
      outer.tmux('display-message', '-p', '-t', 'outer', '#{window_bell_flag}').includes('1') ? true : undefined,
    )
  })

  it('in a title comes back as the program set it', async () => {
    for (const text of HOSTILE) {
      if (/[\n\t]/.test(text) || text.length > 1_000) continue
      const script = scratch.script(['sh', '-c', 'printf "\\033]2;%s\\033\\\\" "$1"; exec sleep 600', 'sh', text])
      const { pane } = await terminal.create({ session: 'titled', cwd: scratch.path, script, agent: 'a' })
      const wanted = text
      await eventually(`the title ${text}`, async () =>
        (await terminal.pane(pane)).title === wanted ? true : undefined,
      )
      await terminal.close('titled')
    }
  })

  it('in an environment or an argument reaches the program alone, and no command line before it', async () => {
    const seen = join(scratch.path, 'seen')
    const read =
      'const fs = require("fs"), [, at] = process.argv; fs.writeFileSync(at + "~", JSON.stringify([process.env, process.argv.slice(2)])); fs.renameSync(at + "~", at)'
    const env = Object.fromEntries(HOSTILE.map((text, at) => [`HOSTILE_${at}`, text]))
    const script = scratch.script([process.execPath, '-e', read, seen, ...HOSTILE], env)
    expect(execFileSync('stat', ['-c', '%a', script], { encoding: 'utf8' })).toBe('600\n')
    const pane = await terminal.create({ session: 'told', cwd: scratch.path, script, agent: 'a' })
    const [told, args] = JSON.parse(await eventually('the program ran', () => fileText(seen)))
    expect(args).toEqual(HOSTILE)
    expect(Object.fromEntries(Object.entries(told).filter(([name]) => name.startsWith('HOSTILE_')))).toEqual(env)
    expect(existsSync(script)).toBe(false)
    await eventually('it ended', async () => ((await terminal.pane(pane.pane)).isDead ? true : undefined))
    expect(await terminal.pane(pane.pane)).toMatchObject({ exitStatus: 0 })
  })

  it('of any kind passes the parser unchanged', async () => {
    const server = { socket: scratch.socket, executable: TMUX, environment: { PATH: process.env.PATH ?? '' } }
    const client = await ControlClient.open(server, 'secret', new AbortController().signal)
    if (!(client instanceof ControlClient)) throw new Error(client.failed)
    const file = join(scratch.path, 'buffer')
    const word = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: fc.constantFrom(...'\\"\'$~#{}();%\n\t 07u') }),
    )
    await fc.assert(
      fc.asyncProperty(
        word.filter((text) => text !== '' && !text.includes('\0')),
        async (text) => {
          await client.ask(commandLine('set-buffer', '-b', 'any', '--', text), 5_000)
          expect(await client.ask(commandLine('save-buffer', '-b', 'any', file), 5_000)).toEqual({ lines: [] })
          expect(readFileSync(file, 'utf8')).toBe(Buffer.from(text).toString())
        },
      ),
      { numRuns: 300 },
    )
    await client[Symbol.asyncDispose]()
  })
})

const isIn = (pane: PaneInfo, cwd: string): boolean => {
  try {
    return realpathSync(`/proc/${pane.pid}/cwd`) === realpathSync(cwd)
  } catch {
    return false
  }
}
