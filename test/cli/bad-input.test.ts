import { describe, expect, it } from 'vitest'
import { type } from './typed.js'

/** One row per kind of mistake: what was typed, and the one line that answers it. Each ends with exit code 2. */
const MISTAKES: readonly (readonly [typed: string, line: string])[] = [
  ['sesions', 'Unknown command "sesions". Did you mean sessions? See: skein --help'],
  ['sessions lst', 'Unknown command "lst". Did you mean list? See: skein sessions --help'],
  ['rebuild', 'Unknown command "rebuild". Did you mean skein index rebuild? See: skein --help'],
  ['weather', 'Unknown command "weather". See: skein --help'],
  ['help agnets', 'Unknown command "agnets". Did you mean agents? See: skein --help'],
  ['help sessions list more', 'skein sessions list has no commands of its own. See: skein --help'],
  ['constructor', 'Unknown command "constructor". See: skein --help'],
  ['--jsn sessions list', 'Unknown option before the command "--jsn". Did you mean --json? See: skein --help'],
  ['sessions --list', 'Unknown option before the command "--list". Did you mean list? See: skein sessions --help'],
  ['sessions list --agnet x', 'Unknown option "--agnet". Did you mean --agent? See: skein sessions list --help'],
  ['sessions list --agnet=x', 'Unknown option "--agnet". Did you mean --agent? See: skein sessions list --help'],
  ['sessions list -x', 'Unknown option "-x". See: skein sessions list --help'],
  ['sessions list --agent', '--agent needs a value: --agent <agent>. See: skein sessions list --help'],
  [
    'sessions list --agent --no-color',
    '--agent needs a value: --agent <agent>. A value that begins with "-" is written --agent=--no-color',
  ],
  ['sessions list --agent=', '<agent> is empty. Enter a value'],
  ['--profile= sessions list', '<name> is empty. Enter a value'],
  ['sessions list --profile', '--profile needs a value: --profile <name>. See: skein sessions list --help'],
  ['sessions list --json=yes', '--json takes no value. Write --json alone. See: skein sessions list --help'],
  [
    'sessions list --outcome don',
    '"don" is not a valid outcome. Did you mean done? Use active, done, handoff, crash, killed, exit, clear or lost',
  ],
  ['sessions list --limit 0', '"0" is not a positive whole number. Write it like 50'],
  ['sessions list --limit 1e3', '"1e3" is not a positive whole number. Write it like 50'],
  ['sessions list --limit=-5', '"-5" is not a positive whole number. Write it like 50'],
  [
    'sessions list --since tomorrow',
    '"tomorrow" is not a time. Write 1h, 7d, today, yesterday, 2026-01-17 or 2026-01-17T08:30:00Z',
  ],
  [
    'sessions list --until 2026-02-31',
    '"2026-02-31" is not a time. Write 1h, 7d, today, yesterday, 2026-01-17 or 2026-01-17T08:30:00Z',
  ],
  ['sessions list extra', 'Unexpected argument "extra". Usage: skein sessions list [options]'],
  ['sessions show', 'Missing <session>. Usage: skein sessions show <session> [options]'],
  ['sessions show one two', 'Unexpected argument "two". Usage: skein sessions show <session> [options]'],
  ['session end x', 'Missing --outcome <outcome>. Usage: skein session end [session] --outcome <outcome> [options]'],
  [
    'session end --outcome done',
    'No session is named, and SKEIN_SESSION is not set. Name one; see: skein sessions list',
  ],
  ['session step begin design', '"begin" is not a valid action. Use start or complete'],
  ['session step start design x --failed', '--failed needs complete. A step that starts has not failed yet'],
  [
    'session step complete design x --molecule m',
    '--molecule needs start. A completed step keeps the plan it was started with',
  ],
  ['session update x', 'Nothing to update. Name what to change, for example --title. See: skein session update --help'],
  ['session start --resume', '--resume needs --id. Name the session to open again'],
  ['session start --link crash', '--link needs --parent. Name the session it continues'],
  ['session start --fork-of x:y', '"x:y" is not a session and turn. Write it like 0f3c9a12:7'],
  [
    'session start --fork-of ../../etc',
    '"../../etc" cannot be a session id. Use 1 to 128 letters, digits, ".", "_" or "-", starting with a letter or digit',
  ],
  ['agents add web/toast', 'Missing --tool or --command. Use --tool claude, or --command "claude --verbose"'],
  ['agents move web/toast', 'Missing <group> or --top. Usage: skein agents move <agent> <group>'],
  ['agents set web/toast', 'Nothing to change. Name what to change, for example --title. See: skein agents set --help'],
  ['agents set-parent a b --none', 'Missing <parent> or --none. Usage: skein agents set-parent <agent> <parent>'],
  ['events config set mail', 'Missing <pattern> or <ttl>. Usage: skein events config set <pattern> <ttl>'],
  ['events config reset mail', 'reset takes no arguments. Usage: skein events config reset'],
  ['events append mail --payload [1]', `--payload is not a JSON object: "[1]". Write it like '{"subject":"hello"}'`],
  [
    'profile delete play',
    'Deleting profile "play" deletes everything in it. To confirm: skein profile delete play --yes',
  ],
  ['ingest x --all', '--all and <session> contradict each other. Leave out one of them'],
  ['ingest --all --tool codex', '--all and --tool contradict each other. Leave out one of them'],
  ['ingest --force', '--force needs a session. Name the session to read again'],
  ['ingest --watch --no-words', '--watch always stores text. Leave out --no-words'],
  ['ingest x --watch --force', '--force reads a session once. Leave out --watch'],
  ['cost --since 1h --until 2h', '--since is not before --until. Use a --since that is earlier than --until'],
  ['completion tcsh', '"tcsh" is not a valid shell. Use bash, zsh or fish'],
]

describe('bad input', () => {
  it.each(MISTAKES)('skein %s', async (typed, line) => {
    expect(await type(typed.split(' '))).toEqual({ stdout: '', stderr: `skein: ${line}\n`, exitCode: 2 })
  })

  it('keeps stdout empty with --json too, so that a script reads an answer or nothing', async () => {
    const { stdout, stderr, exitCode } = await type(['sessions', 'list', '--json', '--nope'])
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 2 })
    expect(JSON.parse(stderr)).toEqual({
      error: {
        code: 'usage',
        message: 'Unknown option "--nope"',
        next: expect.stringContaining('sessions list --help'),
      },
    })
    expect((await type(['--json', 'sesions'])).stderr).toMatch(/^\{"error":\{"code":"usage"/)
    expect((await type(['search', '--', '--json', 'x'])).stderr).toMatch(/^skein: /)
  })

  it('is shown, not obeyed: no escape sequence of it reaches the terminal', async () => {
    for (const words of [['\x1b[2J'], ['sessions', 'list', '--\x1b[2J'], ['sessions', 'list', '--since', '\x1b[2J']]) {
      const { stderr, exitCode } = await type(words)
      expect(exitCode).toBe(2)
      expect(stderr).toMatch(/^skein: [^\x1b]+\n$/)
    }
  })
})
