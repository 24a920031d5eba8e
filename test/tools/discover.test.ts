import { createHash } from 'node:crypto'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Environment } from '../../src/tools/index.js'
import { scratchDirectory, toolNamed } from './log-file.js'

const ID = '3b0c8c5e-1111-4222-8333-444455556666'

function withFiles(...paths: string[]): string {
  const home = scratchDirectory()
  for (const path of paths) {
    mkdirSync(dirname(join(home, path)), { recursive: true })
    writeFileSync(join(home, path), '{}\n')
  }
  return home
}
function found(tool: string, home: string, more: Partial<Environment> = {}): string[] {
  const logs = toolNamed(tool).discover({ home, env: {}, ...more })
  return logs.map((log) => relative(home, log.path)).sort()
}

describe('discover', () => {
  it('finds nothing, without complaint, where nothing is', () => {
    for (const tool of ['claude', 'codex', 'gemini', 'opencode', 'pi', 'qwen', 'openclaw', 'plain']) {
      expect(found(tool, '/nowhere/at/all')).toEqual([])
    }
  })

  it('claude: sessions, sub-agents of both layouts, linked projects once, and no notes beside them', () => {
    const home = withFiles(
      `.claude/projects/-p/${ID}.jsonl`,
      `.claude/projects/-p/${ID}/subagents/agent-abc.jsonl`,
      `.claude/projects/-p/${ID}/subagents/agent-abc.meta.json`,
      '.claude/projects/-p/agent-def1234.jsonl',
      '.claude/history.jsonl',
      `elsewhere/-q/${ID}.jsonl`,
    )
    symlinkSync(join(home, 'elsewhere', '-q'), join(home, '.claude/projects/-q'))
    symlinkSync(join(home, '.claude/projects/-p'), join(home, '.claude/projects/-again'))
    expect(found('claude', home)).toHaveLength(4)
    const logs = toolNamed('claude').discover({ home, env: {} })
    expect(logs.find((log) => log.agent === 'abc')).toMatchObject({ session: ID })
    expect(logs.find((log) => log.agent === 'def1234')).not.toHaveProperty('session')
  })

  it('claude: CLAUDE_CONFIG_DIR stands in for the usual places, extra roots come on top', () => {
    const home = withFiles(
      `.claude/projects/-p/${ID}.jsonl`,
      `a/projects/-p/${ID}.jsonl`,
      `b/projects/-p/${ID}.jsonl`,
      `.config/claude/projects/-p/${ID}.jsonl`,
    )
    expect(found('claude', home)).toEqual([`.claude/projects/-p/${ID}.jsonl`, `.config/claude/projects/-p/${ID}.jsonl`])
    const extra = { env: { CLAUDE_CONFIG_DIR: join(home, 'a') }, extraRoots: { claude: [join(home, 'b')] } }
    expect(found('claude', home, extra)).toEqual([`a/projects/-p/${ID}.jsonl`, `b/projects/-p/${ID}.jsonl`])
  })

  it('codex: sessions and archived ones, under CODEX_HOME', () => {
    const names = [
      `sessions/2026/01/02/rollout-2026-01-02T00-00-00-${ID}.jsonl`,
      `archived_sessions/rollout-2026-01-01T00-00-00-${ID}.jsonl`,
    ]
    const home = withFiles(...names.map((name) => `.codex/${name}`), `other/${names[0]}`, '.codex/history.jsonl')
    expect(found('codex', home)).toEqual([`.codex/${names[1]}`, `.codex/${names[0]}`])
    expect(found('codex', home, { env: { CODEX_HOME: join(home, 'other') } })).toEqual([`other/${names[0]}`])
    expect(toolNamed('codex').discover({ home, env: {} })[0]).toMatchObject({ session: ID })
  })

  it('gemini: projects by name and by hash, with the directory they ran in', () => {
    const hash = createHash('sha256').update('/srv/old').digest('hex')
    const named = '.gemini/tmp/new/chats/session-2026-01-01T00-00-aaaaaaaa.jsonl'
    const hashed = `.gemini/tmp/${hash}/chats/session-2026-01-01T00-00-bbbbbbbb.json`
    const spawned = '.gemini/tmp/new/chats/aaaaaaaa-1/sub.jsonl'
    const home = withFiles(named, hashed, spawned, '.gemini/tmp/new/logs.json', '.gemini/projects.json')
    writeFileSync(
      join(home, '.gemini/projects.json'),
      JSON.stringify({ projects: { '/srv/new': 'new', '/srv/old': 'older' } }),
    )
    expect(found('gemini', home).sort()).toEqual([hashed, named, spawned].sort())
    const logs = toolNamed('gemini').discover({ home: '/nowhere', env: { GEMINI_CLI_HOME: home } })
    expect(logs.map((log) => toolNamed('gemini').identify(log).cwd).sort()).toEqual([
      '/srv/new',
      '/srv/new',
      '/srv/old',
    ])
  })

  it('opencode: the data directory, or the file that OPENCODE_DB names', () => {
    const home = withFiles(
      '.local/share/opencode/opencode.db',
      'data/opencode/opencode-beta.db',
      'data/opencode/mine.db',
      'data/opencode/opencode.db-wal',
    )
    expect(found('opencode', home)).toEqual(['.local/share/opencode/opencode.db'])
    const env = { XDG_DATA_HOME: join(home, 'data') }
    expect(found('opencode', home, { env })).toEqual(['data/opencode/opencode-beta.db'])
    expect(found('opencode', home, { env: { ...env, OPENCODE_DB: 'mine.db' } })).toEqual(['data/opencode/mine.db'])
    expect(found('opencode', home, { env: { OPENCODE_DB: ':memory:' } })).toEqual([])
  })

  it('pi, qwen, openclaw and the plain form', () => {
    const home = withFiles(
      '.pi/agent/sessions/--p--/2026-01-01T00-00-00-000Z_my.id.jsonl',
      'pi2/sessions/--p--/2026-01-01T00-00-00-000Z_other.jsonl',
      `.qwen/projects/-p/chats/${ID}.jsonl`,
      `.openclaw/agents/main/sessions/${ID}.jsonl`,
      `.openclaw/agents/main/sessions/${ID}.jsonl.reset.2026-01-01T00-00-00.000Z`,
      `.openclaw/agents/main/sessions/${ID}.trajectory.jsonl`,
      '.openclaw/agents/main/sessions/sessions.json',
      '.claude/projects/x/.claude/conversations/c1.json',
      '.claude/projects/x/settings.json',
      'plain/c2.json',
    )
    expect(found('pi', home)).toEqual(['.pi/agent/sessions/--p--/2026-01-01T00-00-00-000Z_my.id.jsonl'])
    expect(toolNamed('pi').discover({ home, env: {} })[0]).toMatchObject({ session: 'my.id' })
    expect(found('pi', home, { env: { PI_CODING_AGENT_DIR: join(home, 'pi2') } })).toHaveLength(1)
    expect(found('qwen', home)).toEqual([`.qwen/projects/-p/chats/${ID}.jsonl`])
    expect(found('qwen', '/nowhere', { env: { QWEN_HOME: join(home, '.qwen') } })).toHaveLength(1)
    expect(found('openclaw', home)).toHaveLength(2)
    expect(found('openclaw', '/nowhere', { env: { OPENCLAW_STATE_DIR: join(home, '.openclaw') } })).toHaveLength(2)
    expect(found('plain', home)).toEqual(['.claude/projects/x/.claude/conversations/c1.json'])
    expect(found('plain', home, { extraRoots: { plain: [join(home, 'plain')] } })).toContain('plain/c2.json')
  })

  it('claude: several directories in CLAUDE_CONFIG_DIR, written as people write lists', () => {
    const home = withFiles(`a/projects/-p/${ID}.jsonl`, `b/projects/-p/${ID}.jsonl`)
    const CLAUDE_CONFIG_DIR = ` ${join(home, 'a')}, ${join(home, 'b')}/,`
    expect(found('claude', home, { env: { CLAUDE_CONFIG_DIR } })).toHaveLength(2)
  })

  it('opencode: extra roots come on top of OPENCODE_DB too, and a database reached twice is one', () => {
    const home = withFiles('mine.db', 'other/opencode.db')
    const extraRoots = { opencode: [join(home, 'other'), join(home, 'other')] }
    const env = { OPENCODE_DB: join(home, 'mine.db') }
    expect(found('opencode', home, { env, extraRoots })).toEqual(['mine.db', 'other/opencode.db'])
    expect(found('opencode', home, { env: { OPENCODE_DB: ':memory:' }, extraRoots })).toEqual(['other/opencode.db'])
  })

  it('a place alone tells what is a log from all else that tools keep beside it', () => {
    const logs: Record<string, string[]> = {
      '.claude claude': [
        `projects/-p/${ID}.jsonl`,
        `projects/-p/agent-1.jsonl`,
        `projects/-p/${ID}/subagents/agent-2.jsonl`,
        `projects/-p/${ID}/subagents/deeper/agent-3.jsonl`,
      ],
      '.codex codex': [
        `sessions/2026/01/02/rollout-2026-01-02T00-00-00-${ID}.jsonl`,
        `archived_sessions/rollout-2026-01-01T00-00-00-${ID}.jsonl`,
      ],
      '.gemini gemini': ['tmp/p/chats/session-1.jsonl', 'tmp/p/chats/session-2.json', 'tmp/p/chats/aaaa/sub.jsonl'],
      '.local/share/opencode opencode': ['opencode.db'],
      '.pi/agent pi': ['sessions/--p--/1_my.id.jsonl'],
      '.qwen qwen': [`projects/-p/chats/${ID}.jsonl`],
      '.openclaw openclaw': [`agents/main/sessions/${ID}.jsonl`, `agents/main/sessions/${ID}.jsonl.reset.2026-01-01Z`],
      '.claude/projects plain': ['x/.claude/conversations/c1.json'],
    }
    const others: Record<string, string[]> = {
      '.claude claude': ['history.jsonl', '.credentials.json', `file-history/${ID}/1@v1`, `projects/-p/${ID}/x.jsonl`],
      '.codex codex': ['history.jsonl', 'auth.json', 'sessions/2026/notes.jsonl', 'logs_2.sqlite'],
      '.gemini gemini': ['oauth_creds.json', 'tmp/p/logs.json', 'tmp/p/chats/notes.json'],
      '.local/share/opencode opencode': ['auth.json', 'snapshot/p/HEAD'],
      '.pi/agent pi': ['auth.json', 'other.jsonl'],
      '.qwen qwen': ['oauth_creds.json', `projects/-p/${ID}.jsonl`],
      '.openclaw openclaw': ['openclaw.json', 'agents/main/sessions/sessions.json', `agents/main/${ID}.jsonl`],
      '.claude/projects plain': ['x/settings.json'],
    }
    const pathsOf = (places: Record<string, string[]>): string[] =>
      Object.entries(places).flatMap(([key, names]) => names.map((name) => `${key.split(' ')[0]}/${name}`))
    const home = withFiles(...pathsOf(logs), ...pathsOf(others))
    for (const [key, names] of Object.entries(logs)) {
      const [root = '', tool = ''] = key.split(' ')
      const isLog = (name: string): boolean => toolNamed(tool).isLogAt(name, join(home, root))
      expect(found(tool, home)).toEqual(names.map((name) => `${root}/${name}`).sort())
      expect(names.filter((name) => !isLog(name))).toEqual([])
      expect(others[key]?.filter(isLog)).toEqual([])
    }
  })
})
