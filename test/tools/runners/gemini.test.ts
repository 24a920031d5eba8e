import { mkdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseSessionId } from '../../../src/model/index.js'
import { geminiRunner } from '../../../src/tools/gemini/gemini-runner.js'
import { placeLinks } from '../../../src/tools/index.js'
import { fixture } from '../recorded-pane.js'
import { ID, messageOf, ORIGIN, scratchLaunches } from './launch.js'

const write = (path: string, content: string): void => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
}
const log = (home: string, session: string, more = ''): string => {
  const path = join(home, `.gemini/tmp/web/chats/session-2026-11-15T10-00-${session.slice(0, 8)}.jsonl`)
  const header = { sessionId: session, projectHash: 'x', startTime: '2026-11-15T10:00:00.000Z', kind: 'main' }
  write(path, `${JSON.stringify(header)}\n${more}`)
  return path
}

it('what the hooks of Gemini CLI say', () => {
  const { run } = JSON.parse(fixture('gemini', 'hooks', 'expected.json'))
  const lines = fixture('gemini', 'hooks', 'run.jsonl').trim().split('\n')
  const said = lines.map((line) => geminiRunner.readMessage(messageOf('gemini', JSON.parse(line))))
  expect(said).toEqual(run)
})

it.each([
  ['◇  Ready (web)          ', 'idle'],
  ['✦  Working… (web)', 'running'],
  ['✦  Reading the tests (web)', 'running'],
  ['⏲  Working… (web)', 'running'],
  ['✋  Action Required (web)', 'waiting'],
  ['Gemini CLI (web)', undefined],
])('the title %j', (title, status) => {
  expect(geminiRunner.readTitle(title)?.status).toBe(status)
})

describe('starting Gemini CLI', () => {
  it('anew: with the id of our choice', () => {
    using scratch = scratchLaunches()
    const { argv, session } = geminiRunner.prepare(scratch.launch({ model: 'gemini-x', mcp: ['files', 'mail'] }))
    expect(argv).toEqual([
      ...['gemini', '--session-id', ID, '--model', 'gemini-x'],
      ...['--allowed-mcp-server-names=files', '--allowed-mcp-server-names=mail'],
    ])
    expect(session).toBe(ID)
  })

  it('anew: an id that is no random UUID is made into one, always the same', () => {
    using scratch = scratchLaunches()
    const chosen = parseSessionId('01a1dea7-18c2-7682-a937-e95bc02be3cd')
    const first = geminiRunner.prepare(scratch.launch({ session: chosen })).session
    expect(first).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(geminiRunner.prepare(scratch.launch({ session: chosen })).session).toBe(first)
  })

  it('again: resumes what was written down, and gives the id again to what was not', () => {
    using scratch = scratchLaunches()
    const start = (): readonly string[] => geminiRunner.prepare(scratch.launch({ kind: 'resume' })).argv.slice(0, 3)
    expect(start()).toEqual(['gemini', '--session-id', ID])
    log(scratch.home, ORIGIN)
    expect(start()).toEqual(['gemini', '--session-id', ID])
    const at = '2026-11-15T10:00:00.000Z'
    const said = (text: string) => `${JSON.stringify({ id: text, timestamp: at, type: 'user', content: [{ text }] })}\n`
    // Begun with /clear: it refuses to resume a conversation in which nothing was said.
    log(scratch.home, ID, said('<session_context>\nThis is the Gemini CLI.\n</session_context>'))
    expect(start()).toEqual(['gemini', '--session-id', ID])
    log(scratch.home, ID, said('hello'))
    expect(start()).toEqual(['gemini', '--resume', ID])
  })

  it('as a fork: from the log of the other, under an id that it chooses; without one, not at all', () => {
    using scratch = scratchLaunches()
    const launch = scratch.launch({ kind: 'fork', origin: ORIGIN })
    expect(() => geminiRunner.prepare(launch)).toThrow(`no log of ${ORIGIN}`)
    const path = log(scratch.home, ORIGIN)
    const { argv, session } = geminiRunner.prepare(launch)
    expect(argv.slice(0, 3)).toEqual(['gemini', '--session-file', path])
    expect(session).toBeUndefined()
  })
})

describe('the home that a run is given', () => {
  const settingsOf = (files: readonly { path: string; content: string }[]) =>
    JSON.parse(files.find(({ path }) => path.endsWith('settings.json'))?.content ?? '{}')

  it('is the user’s, but for settings that also have our hooks and no clean-up', () => {
    using scratch = scratchLaunches()
    const own = join(scratch.home, '.gemini/settings.json')
    const theirs = { hooks: [{ type: 'command', command: 'mine' }] }
    write(
      own,
      `{ // mine\n "ui": {"theme": "a // b"}, "hooks": {"AfterAgent": [${JSON.stringify(theirs)}]} /* end */ }`,
    )
    write(join(scratch.home, '.gemini/oauth_creds.json'), 'secret')
    const launch = scratch.launch({ directory: join(scratch.home, 'run') })
    const { env, files, links } = geminiRunner.prepare(launch)
    const settings = settingsOf(files)
    expect(settings.ui).toEqual({ theme: 'a // b' })
    expect(settings.hooks.AfterAgent).toEqual([
      theirs,
      { hooks: [{ type: 'command', command: launch.spool.command, name: 'skein', timeout: 10_000 }] },
    ])
    expect(settings.general.sessionRetention.enabled).toBe(false)
    placeLinks(links ?? [])
    placeLinks(links ?? []) // a second start finds them there
    const home = join(String(env.GEMINI_CLI_HOME), '.gemini')
    expect(readFileSync(join(home, 'oauth_creds.json'), 'utf8')).toBe('secret')
    expect(readlinkSync(join(home, 'tmp'))).toBe(join(scratch.home, '.gemini/tmp'))
    writeFileSync(join(home, 'tmp/new'), 'x')
    writeFileSync(join(home, 'google_accounts.json'), 'x')
    expect(readFileSync(join(scratch.home, '.gemini/tmp/new'), 'utf8')).toBe('x')
    expect(readFileSync(join(scratch.home, '.gemini/google_accounts.json'), 'utf8')).toBe('x')
    expect(links?.map(({ path }) => path)).not.toContain(join(home, 'settings.json'))
    expect(readFileSync(own, 'utf8')).toContain('// mine')
  })

  it('keeps hooks off that the user has switched off', () => {
    using scratch = scratchLaunches()
    write(
      join(scratch.home, '.gemini/settings.json'),
      '{"hooksConfig": {"enabled": false}, "hooks": {"AfterAgent": [{"hooks": []}], "BeforeTool": [{"hooks": []}]}}',
    )
    const settings = settingsOf(geminiRunner.prepare(scratch.launch()).files)
    expect(settings.hooksConfig.enabled).toBe(true)
    expect(settings.hooks.BeforeTool).toBeUndefined()
    expect(settings.hooks.AfterAgent).toHaveLength(1)
  })

  it('is not made where the settings cannot be read, nor in the home directory itself', () => {
    using scratch = scratchLaunches()
    expect(geminiRunner.prepare(scratch.launch({ cwd: scratch.home })).env.GEMINI_CLI_HOME).toBeUndefined()
    write(join(scratch.home, '.gemini/settings.json'), '{ broken')
    const { env, files, links } = geminiRunner.prepare(scratch.launch())
    expect([env.GEMINI_CLI_HOME, files, links]).toEqual([undefined, [], []])
  })
})
