import { mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse } from 'smol-toml'
import { describe, expect, it } from 'vitest'
import type { Home } from '../../src/home/index.js'
import { configOf } from '../../src/operations/tool/program-documents.js'
import { describedLogTool } from '../../src/tools/custom/described-log.js'
import type { LogTool } from '../../src/tools/index.js'
import { parseCustomTools, RUNNERS } from '../../src/tools/index.js'
import { describeToolLog } from '../contracts/tool-log.js'
import { openTestHome, scratch } from '../home/scratch.js'

const DOCS = readFileSync(join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'docs', 'TOOLS.md'), 'utf8')
/** The block of docs/TOOLS.md that begins so. */
const block = (begin: string): string => {
  const at = DOCS.indexOf(begin)
  expect(at).toBeGreaterThan(0)
  return DOCS.slice(at, DOCS.indexOf('```', at))
}
const CONFIG = block('[tools.muse]')
const LINES = block('{"session": ')
const ID = '5b2d6c1e-7a10-4c3f-9d55-0f3e8a1b2c4d'
const BUILT_IN = RUNNERS.map(({ name }) => name)

function toolFrom(keys: Record<string, unknown>, name = 'muse'): LogTool {
  const [tool] = parseCustomTools({ [name]: { command: 'muse', ...keys } }, '/cfg/config.toml', BUILT_IN)
  if (!tool?.log) throw new Error('no log')
  return describedLogTool(name, tool.log)
}

const { tools } = parse(CONFIG) as { tools: { muse: Record<string, unknown> } }
describeToolLog(toolFrom(tools.muse))

async function homeWith(config: string, files: Record<string, string>): Promise<{ home: Home; root: string }> {
  const root = scratch()
  writeFileSync(join(root, 'config.toml'), config)
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), content)
  }
  return { home: (await openTestHome(root)).home, root }
}

describe('a tool that names its log', () => {
  it('as docs/TOOLS.md shows it has sessions, turns, search, cost and export', async () => {
    const { home } = await homeWith(CONFIG, { '.muse/sessions/2026/01/a.jsonl': LINES })
    expect(await home.history.ingest()).toMatchObject({ logs: 1, read: 1, sessions_found: 1, turns: 1 })
    expect(await home.sessions.get(ID)).toMatchObject({
      tool: 'muse',
      cwd: '/srv/shop',
      title: 'Name a colour of the sea',
    })
    const { turns } = await home.history.turns(ID)
    expect(turns).toMatchObject([
      { prompt: 'Name a colour of the sea', reply: 'Turquoise.', started_at: '2026-01-17T09:00:00.000Z' },
    ])
    expect((await home.history.search({ text: 'turquoise' })).hits).toMatchObject([{ session: ID }])
    expect((await home.history.cost({ by: 'tool' })).rows).toMatchObject([
      { key: 'muse', input_tokens: 12, output_tokens: 3, unpriced_calls: 1 },
    ])
    expect((await home.index.check()).problems).toEqual([])
    await home[Symbol.asyncDispose]()
  })

  it('is read on where it grew, and anew when it was replaced', async () => {
    const name = '.muse/sessions/a.jsonl'
    const { home, root } = await homeWith(CONFIG, { [name]: LINES })
    await home.history.ingest()
    const more = '{"ts": 1768640500, "message": {"role": "user", "content": "And of grass?"}}\n'
    writeFileSync(join(root, name), LINES + more)
    await home.history.ingest()
    expect((await home.history.turns(ID)).turns).toHaveLength(2)
    const other = LINES.replace('Turquoise', 'Vermilion')
    writeFileSync(join(root, 'new'), other)
    renameSync(join(root, 'new'), join(root, name))
    await home.history.ingest()
    expect((await home.history.turns(ID)).turns).toMatchObject([{ reply: 'Vermilion.' }])
    await home[Symbol.asyncDispose]()
  })

  it('of one document names the list of messages; without an id in it, its file does', async () => {
    const config =
      '[tools.sonnet]\ncommand = "sonnet"\nlog_glob = "~/sonnets/s-?.json"\nlog_format = "json"\nlog_messages = ".chat.items"\nlog_text = ".parts"\n'
    const chat = {
      items: [
        { role: 'human', parts: ['Shall I', 'compare?'] },
        { role: 'ai', parts: { text: 'No.' } },
      ],
    }
    const { home } = await homeWith(config, {
      'sonnets/s-1.json': JSON.stringify({ chat }),
      'sonnets/s-10.json': JSON.stringify({ chat }),
      'sonnets/deep/s-1.json': JSON.stringify({ chat }),
    })
    expect(await home.history.ingest()).toMatchObject({ logs: 1, sessions_found: 1 })
    expect((await home.history.turns('s-1')).turns).toMatchObject([{ prompt: 'Shall I\ncompare?', reply: 'No.' }])
    await home[Symbol.asyncDispose]()
  })

  it('of other shapes tells nothing and breaks nothing', async () => {
    const odd = [
      '[]',
      '"text"',
      'null',
      '{"message": null}',
      '{"message": {"role": 7, "content": {}}}',
      '{"message": {"role": "assistant", "content": [[["deep"]]]}, "usage": {"in": "many", "out": -4}}',
      '{"message": {"role": "oracle", "content": "x"}}',
      '{"__proto__": {"message": {"role": "user", "content": "inherited"}}}',
      '{"ts": 1e300, "message": {"role": "user", "content": "still here"}}',
      `{"message": {"role": "assistant", "content": "${'x'.repeat(3_000_000)}"}}`,
      '{"message": {"role": "user", "content": "cut',
    ]
    const { home } = await homeWith(CONFIG, { '.muse/sessions/odd.jsonl': odd.join('\n') })
    expect(await home.history.ingest()).toMatchObject({ logs: 1, unreadable: [] })
    const { turns } = await home.history.turns('odd')
    expect(turns.map(({ prompt }) => prompt)).toEqual(['still here'])
    expect(JSON.stringify(turns)).not.toContain('inherited')
    await home[Symbol.asyncDispose]()
  })

  it('passes over what its glob does not name, and names a link that leads nowhere', async () => {
    const { home, root } = await homeWith(CONFIG, { 'elsewhere/secret.txt': 'x', '.muse/sessions/a.jsonl': LINES })
    symlinkSync(join(root, 'elsewhere'), join(root, '.muse', 'sessions', 'link'))
    symlinkSync(join(root, 'nowhere'), join(root, '.muse', 'sessions', 'dangling.jsonl'))
    const report = await home.history.ingest()
    expect(report.logs).toBe(1)
    expect(report.unreadable).toMatchObject([{ reason: 'a dangling link' }])
    await home[Symbol.asyncDispose]()
  })

  it('stays readable from the archive when the description is gone', async () => {
    const { home, root } = await homeWith(CONFIG, { '.muse/sessions/a.jsonl': LINES })
    await home.history.ingest()
    await home[Symbol.asyncDispose]()
    writeFileSync(join(root, 'config.toml'), '')
    const { home: again } = await openTestHome(root)
    await again.history.ingest()
    expect((await again.history.turns(ID)).turns).toMatchObject([{ reply: 'Turquoise.' }])
    await again[Symbol.asyncDispose]()
  })
})

it('is shown by skein tool show as it was written', () => {
  const [tool] = parseCustomTools({ muse: tools.muse }, '/cfg/config.toml', BUILT_IN)
  if (!tool) throw new Error('no tool')
  expect(configOf(tool)).toMatchObject({ log_glob: '~/.muse/sessions/**/*.jsonl', log_role: '.message.role' })
})

describe('a description that cannot be used', () => {
  it.each([
    [{ log_glob: 'sessions/*.jsonl' }, 'tools.muse.log_glob in /cfg/config.toml is not an absolute path'],
    [
      { log_glob: '~/.muse/../../etc/*' },
      'tools.muse.log_glob in /cfg/config.toml has an empty part, "." or ".." in it',
    ],
    [{ log_glob: '/**/*.jsonl' }, 'tools.muse.log_glob in /cfg/config.toml has no directory before its first wildcard'],
    [
      { log_glob: '~/**/*.jsonl' },
      'tools.muse.log_glob in /cfg/config.toml has no directory before its first wildcard',
    ],
    [{ log_glob: '/a/**' }, 'tools.muse.log_glob in /cfg/config.toml ends with "**"'],
    [{ log_glob: '/a/**/b/**/*.x' }, 'tools.muse.log_glob in /cfg/config.toml has "**" twice'],
    [{ log_role: '.role' }, 'tools.muse.log_role in /cfg/config.toml needs log_glob beside it'],
    [{ log_glob: '/a/*', log_format: 'xml' }, 'tools.muse.log_format in /cfg/config.toml is "xml"'],
    [{ log_glob: '/a/*', log_format: 'json' }, 'tools.muse.log_glob in /cfg/config.toml needs log_messages beside it'],
    [{ log_glob: '/a/*', log_messages: '.m' }, 'tools.muse.log_messages in /cfg/config.toml needs log_format = "json"'],
    [{ log_glob: '/a/*', log_text: 'content' }, 'tools.muse.log_text in /cfg/config.toml is not a JSON path'],
    [
      { log_glob: '/a/*', compatible_with: 'claude' },
      'tools.muse.log_glob in /cfg/config.toml is for a tool like claude, whose logs are read already',
    ],
  ])('%j is refused with one line', (keys, message) => {
    expect(() => toolFrom(keys)).toThrow(message)
  })

  it('a tool whose logs are built in keeps its reader', () => {
    expect(() => toolFrom({ log_glob: '/a/*' }, 'qwen')).toThrow('is for qwen, whose logs are read already')
  })
})
