import { mkdirSync, readdirSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { SkeinError } from '../../src/model/index.js'
import { eventually, workshop } from './workshop.js'

/** Texts that some layer between us and the program might take for more than text. `TRAP` is a file that must never appear. */
const TEXTS = [
  '$(touch TRAP)',
  '`touch TRAP`',
  '; touch TRAP',
  '& touch TRAP &',
  '| touch TRAP',
  '&& touch TRAP',
  '\ntouch TRAP\n',
  'a\r\nb\rc',
  "' ; touch TRAP ; '",
  '" ; touch TRAP ; "',
  "'\"'\"'",
  '\\',
  '\\\\n\\t\\x41',
  `$\{IFS}$PATH $HOME`,
  '$$ $! $? $0 $@',
  '#{pane_id} #{session_name}',
  '#(touch TRAP)',
  '#[fg=red]#S #W ##',
  '%1 %% %d %s %n',
  '@1 $1 =toast',
  '{a,b} ~ * ? [x]',
  'Enter C-c Escape',
  'tab\there',
  '-t -c --help',
  '--dangerously-skip-permissions',
  '-- -',
  '=value',
  '; kill-server',
  '\\; kill-server \\;',
  'run-shell "touch TRAP"',
  'if-shell true "run-shell touch"',
  '\u202egnp.exe',
  '\u200bzero\u200dwidth\ufeff',
  '\u2028line\u2029paragraph',
  'e\u0301 vs é',
  '👩‍👩‍👧‍👦 🏳️‍🌈 👍🏽',
  '日本語 テキスト',
  'العربية עברית',
  'ﷺ𝒳𝕏🜁',
  '\u0000nul',
  '\x1b[2J\x1b]0;owned\x07',
  '\x1b[201~\rtouch TRAP\r',
  '\x07\x08\x7f',
  '\u009b2J\u0085',
  '<script>alert(1)</script> &amp;',
  '../../../../etc/passwd',
  '%n%x%p $((1+1)) <(touch TRAP)',
  'a'.repeat(5_000),
  Array.from({ length: 60 }, (_, n) => `line ${n}`).join('\n'),
  '!! !$ ^a^b^ !touch TRAP',
  'end with backslash \\\n',
]

it('there are fifty of them', () => expect(TEXTS.length).toBeGreaterThanOrEqual(50))

const batches = Array.from({ length: 5 }, (_, at) => TEXTS.filter((_text, n) => n % 5 === at))
it.each(batches.map((texts, at) => [at, texts] as const))(
  'titles, directories and prompts arrive as they are or are refused, and nothing is executed (%i)',
  async (at, texts) => {
    const { agents, project, log, root } = await workshop()
    mkdirSync(join(root, 'trap'))
    const trapped = texts.map((text) => text.replaceAll('TRAP', join(root, 'trap', 'x')))
    let [arrived, refused] = [0, 0]
    for (const [n, text] of trapped.entries()) {
      const name = `h${at}-${n}`
      const cwd = directoryFor(project, text) ?? project
      const started = await agents.start({ agent: name, cwd, title: text, args: ['--say', text.replaceAll('\0', '')] })
      expect(started.agent.title).toBe(text)
      const run = (await agents.runs()).find((one) => one.agent === started.agent.id)
      expect(readlinkSync(`/proc/${run?.run?.pid}/cwd`)).toBe(cwd)
      expect(log().at(-1)?.args).toContain(text.replaceAll('\0', ''))
      try {
        await agents.send(name, text)
        await eventually(log, (entries) => entries.some(({ prompt }) => prompt !== undefined))
        const said = log().filter(({ prompt, pid }) => prompt !== undefined && pid === run?.run?.pid)
        expect(said.map(({ prompt }) => prompt)).toEqual([text])
        arrived += 1
      } catch (error) {
        if (!(error instanceof SkeinError)) throw error
        expect(['text-refused', 'bad-input', 'tmux-refused']).toContain(error.code)
        expect(log().filter(({ prompt, pid }) => prompt !== undefined && pid === run?.run?.pid)).toEqual([])
        refused += 1
      }
      await agents.kill(name)
    }
    expect(arrived + refused).toBe(texts.length)
    expect(arrived).toBeGreaterThan(texts.length / 2)
    expect(readdirSync(join(root, 'trap'))).toEqual([])
  },
)

/** A directory of that name, where the system can have one. */
function directoryFor(project: string, text: string): string | undefined {
  const name = text.replaceAll('/', '∕').replaceAll('\0', '')
  if (Buffer.byteLength(name) > 200 || name.trim() === '') return undefined
  const path = join(project, name)
  mkdirSync(path)
  return path
}
