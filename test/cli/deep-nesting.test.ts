import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Typed, type } from './typed.js'
import { profilesUnder, scratch } from './world.js'

const LEVELS = 100_000
/** `JSON.parse` takes any depth; whoever walks the result, or writes it down again, runs out of stack. */
const DEEP = {
  lists: `${'['.repeat(LEVELS)}"core"${']'.repeat(LEVELS)}`,
  records: `${'{"a":'.repeat(LEVELS)}"core"${'}'.repeat(LEVELS)}`,
}
const ID = (n: number): string => `dee90000-0000-4000-8000-00000000000${n}`
const AT = '2026-01-17T09:00:00.000Z'

/** A line as JSON, with the deep value in the place of `"DEEP"`. */
const line = (value: object, deep: string): string => JSON.stringify(value).replaceAll('"DEEP"', deep)

function claudeLog(session: string, cwd: string, deep: string): string {
  const said = (n: number, type: string, message: object, more: object = {}): string =>
    line({ type, message, sessionId: session, cwd, version: '2.1.325', uuid: `u${n}`, timestamp: AT, ...more }, deep)
  return [
    said(0, 'user', { role: 'user', content: 'before the deep' }),
    said(1, 'assistant', {
      role: 'assistant',
      content: [{ type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'DEEP' } }],
    }),
    said(
      2,
      'user',
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: 'DEEP' }] },
      { toolUseResult: 'DEEP' },
    ),
    said(3, 'assistant', { role: 'assistant', content: 'DEEP', usage: 'DEEP' }),
    said(4, 'unheard-of', { role: 'user', content: 'DEEP' }),
    said(5, 'user', { role: 'user', content: 'DEEP' }),
    said(6, 'user', { role: 'user', content: 'after the deep' }),
    said(7, 'assistant', { role: 'assistant', content: [{ type: 'text', text: 'answered' }] }),
    '',
  ].join('\n')
}

function codexLog(session: string, cwd: string, deep: string): string {
  const said = (type: string, payload: object): string => line({ timestamp: AT, type, payload }, deep)
  return [
    said('session_meta', {
      id: session,
      timestamp: AT,
      cwd,
      originator: 'codex_cli_rs',
      cli_version: '0.92.0',
      source: 'DEEP',
      git: 'DEEP',
    }),
    said('event_msg', { type: 'user_message', message: 'before the deep' }),
    said('response_item', { type: 'function_call', name: 'exec_command', call_id: 'c1', arguments: deep }),
    said('response_item', { type: 'function_call', name: 'exec_command', call_id: 'c2', arguments: 'DEEP' }),
    said('response_item', { type: 'function_call_output', call_id: 'c1', output: 'DEEP' }),
    said('response_item', { type: 'function_call_output', call_id: 'c2', output: deep }),
    said('response_item', { type: 'message', role: 'assistant', content: 'DEEP' }),
    said('event_msg', { type: 'token_count', info: 'DEEP' }),
    said('event_msg', { type: 'user_message', message: 'after the deep' }),
    said('event_msg', { type: 'agent_message', message: 'answered' }),
    '',
  ].join('\n')
}

describe.each(Object.entries(DEEP))('values nested %s deep', (kind, deep) => {
  const world = scratch()
  const root = join(world.path, 'home')
  const skein = (...words: string[]): Promise<Typed> =>
    type(words, { profiles: profilesUnder(root), cwd: world.path, now: Date.now })
  beforeAll(async () => {
    const project = join(world.path, 'shop')
    const claude = join(root, '.claude', 'projects', '-shop')
    const codex = join(root, '.codex', 'sessions', '2026', '01', '17')
    for (const directory of [project, claude, codex]) mkdirSync(directory, { recursive: true })
    writeFileSync(join(claude, `${ID(1)}.jsonl`), claudeLog(ID(1), project, deep))
    writeFileSync(join(codex, `rollout-2026-01-17T09-00-00-${ID(2)}.jsonl`), codexLog(ID(2), project, deep))
    return () => world[Symbol.dispose]()
  })

  it('stop no command, and cost a log the records that hold them', async () => {
    const seen: string[] = []
    for (const words of [
      ['ingest'],
      ...[1, 2].flatMap((n) => [
        ['turns', ID(n)],
        ['turns', ID(n), '--json'],
        ['tools', ID(n), '--json'],
        ['show', ID(n)],
        ['export', ID(n), '--format', 'json'],
        ['export', ID(n)],
        ['replay', ID(n)],
      ]),
      ['search', 'before'],
      ['cost', '--no-index'],
      ['cost'],
      ['archive', 'verify'],
      ['index', 'rebuild'],
      ['purge', '--pattern', 'nowhere-to-be-found', '--yes'],
    ]) {
      const { exitCode, stderr, stdout } = await skein(...words)
      if (exitCode !== 0) seen.push(`${words.join(' ')}: ${exitCode}: ${stderr.slice(0, 400)} ${stdout.slice(0, 100)}`)
    }
    expect(seen).toEqual([])
    for (const n of [1, 2]) {
      const { stdout } = await skein('turns', ID(n), '--full')
      expect(stdout, kind).toContain('before the deep')
      expect(stdout, kind).toContain('after the deep')
    }
  }, 120_000)
})
