import { randomBytes, randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { type Home, openHome } from '../src/home/index.js'
import { writeConversation } from '../src/lifecycle/fork/written-conversation.js'
import type { Context, SessionId } from '../src/model/index.js'
import { RUNNERS } from '../src/tools/index.js'
import type { Logged } from './model-server/model-server.js'
import type { Script } from './model-server/script.js'
import type { PrintMode } from './print-mode.js'
import type { Scratch } from './scratch.js'

/** Three turns, the first with a command; then whatever goes on, with a command too. opencode puts quotes around prompts. */
export const SCRIPT: Script = {
  rules: [
    { when: /^"?list the files/, steps: [{ text: 'I look at them.', do: [{ run: 'ls -1' }] }, { text: 'One file.' }] },
    { when: /^"?remember/, steps: [{ text: 'I will remember PELICAN.' }] },
    { when: /^"?what is it/, steps: [{ text: 'It flies.' }] },
    { when: /^"?go on/, steps: [{ text: 'I run it.', do: [{ run: 'echo li"v"e-42' }] }, { text: 'It ran.' }] },
    { when: /^"?once more/, steps: [{ text: 'Once more done.' }] },
  ],
}

export const promptsOf = (tool: string): string[] => [
  `list the files (${tool})`,
  `remember the word PELICAN (${tool})`,
  `what is it (${tool})`,
]

/** All that was said and done in these turns, in its order. */
export function piecesOf(tool: string): string[] {
  const [list = '', remember = '', what = ''] = promptsOf(tool)
  return [
    list,
    'I look at them.',
    'ls -1',
    'README.md',
    'One file.',
    remember,
    'I will remember PELICAN.',
    what,
    'It flies.',
  ]
}

/** Has the real program hold the three turns, and returns the session's id. */
export async function recorded(programs: PrintMode, tool: string): Promise<SessionId> {
  const [first = '', ...others] = promptsOf(tool)
  const session = await programs.begin(tool, first)
  for (const prompt of others) await programs.resume(tool, session, prompt)
  return session
}

export function openScratchHome(scratch: Scratch, programs: PrintMode): Promise<Home> {
  const root = scratch.path('skein')
  const surroundings = { ...programs.environment, zone: 'UTC' }
  return openHome({ root, configFile: scratch.path('skein', 'config.toml'), surroundings, context: CONTEXT })
}

const CONTEXT: Context = {
  clock: { now: Date.now },
  random: { bytes: randomBytes, uuid: randomUUID },
  warn: () => {},
  progress: () => {},
  actor: 'tester',
  host: 'here',
}

/** Writes the conversation for another tool. */
export async function carried(
  home: Home,
  programs: PrintMode,
  session: SessionId,
  tool: string,
  cwd: string,
): ReturnType<typeof writeConversation> {
  const parts = { home, context: CONTEXT, environment: programs.environment, runners: RUNNERS }
  return writeConversation(parts, await home.sessions.find(session), { tool, cwd })
}

/** The request had these prompts and no others, and all of these pieces, each behind the one before. */
export function expectSent(request: Logged | undefined, prompts: readonly string[], pieces: readonly string[]): void {
  expect(request?.prompts.map((prompt) => prompt.replace(/^"([\s\S]*)"$/, '$1'))).toEqual(prompts)
  const all = request?.said.join('\n') ?? ''
  let from = 0
  for (const piece of pieces) {
    const at = all.indexOf(piece, from)
    expect(at, `${piece} behind ${from} in ${all.slice(0, 6_000)}`).toBeGreaterThanOrEqual(0)
    from = at + piece.length
  }
}

/** The first request that a prompt led to. */
export const asked = (requests: readonly Logged[], prompt: string, round = 0): Logged | undefined =>
  requests.find((one) => one.prompt.replace(/^"([\s\S]*)"$/, '$1') === prompt && one.round === round)
