import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { RUNNERS } from '../src/tools/index.js'
import { isObject, type JsonObject, listAt, numberAt, objectAt } from '../src/tools/json-value.js'
import { promptsOf, recorded, SCRIPT } from './continued.js'
import type { Logged } from './model-server/model-server.js'
import { numberedPrompt, textFiles, writingTurns } from './numbered-turns.js'
import { PrintMode } from './print-mode.js'
import { until } from './skein.js'
import { sourceLog } from './source-log.js'
import { claude } from './tools/claude.js'
import { codex } from './tools/codex.js'
import { REAL_TOOLS } from './tools/index.js'
import type { RealTool } from './tools/real-tool.js'
import { User } from './user.js'

const AGENT = 'web/worker'
const WAIT = ['--wait', '--timeout', '90s']
/** All tools and all forks with SKEIN_ALL_TOOLS; otherwise Claude Code, without the forks that others make likely. */
const isWhole = process.env.SKEIN_ALL_TOOLS !== undefined
const TOOLS = isWhole ? REAL_TOOLS : [claude]
/** How each program is started so that it writes files without asking. */
const FREELY: Readonly<Record<string, readonly string[]>> = {
  claude: ['--arg=--permission-mode', '--arg=acceptEdits'],
  codex: ['--dangerous'],
  gemini: ['--dangerous'],
}
const COMPACT: Readonly<Record<string, string>> = { gemini: '/compress' }
/** The prompts of the test in a request; Gemini CLI puts its own words before the first, opencode quotes them. */
const known = (prompts: readonly string[] = []): string[] =>
  prompts.flatMap(
    (text) =>
      /do number \d|^"?(?:work|fail|ponder) on it|delegate it|and now, [\w-]+\?/.exec(text)?.[0].replace('"', '') ?? [],
  )

/** One session with everything that makes a cut hard, in a subdirectory of a linked worktree. */
class HardSession {
  constructor(
    readonly user: User,
    readonly tool: RealTool,
    readonly session: string,
    readonly cwd: string,
  ) {}

  static async of(user: User, tool: RealTool): Promise<HardSession> {
    const { scratch, skein } = user
    const tree = join(scratch.project, '.trees', 'linked')
    const env = scratch.env()
    execFileSync('git', ['worktree', 'add', '-q', '-b', 'linked', tree], { cwd: scratch.project, env })
    const cwd = join(tree, 'packages', 'web')
    mkdirSync(cwd, { recursive: true })
    const started = await skein.run('start', cwd, '--agent', AGENT, '--tool', tool.name, ...(FREELY[tool.name] ?? []))
    const made = new HardSession(user, tool, String(objectAt(started, 'agent')?.session_id), cwd)
    await made.ready(AGENT)
    return made
  }

  /** It may ask whether to trust a directory that it does not know. */
  async ready(agent: string): Promise<void> {
    const { skein } = this.user
    await until(
      `${agent} is ready`,
      async () => {
        const { status, waiting_for } = await skein.agent(agent)
        if (status === 'waiting' && waiting_for === 'question') await skein.run('approve', agent)
        return status === 'idle' || (status === 'waiting' && waiting_for === 'finished')
      },
      90_000,
      () => skein.explained(agent),
    )
  }

  async write(turn: number, ...more: string[]): Promise<void> {
    await this.user.skein.run('send', AGENT, numberedPrompt(turn), ...more, ...WAIT)
    expect(textFiles(this.cwd)).toContain(`file-${turn}.txt`)
  }

  async compact(): Promise<void> {
    const { skein, scratch } = this.user
    await skein.types(AGENT, COMPACT[this.tool.name] ?? '/compact')
    const isCompacted = (): boolean =>
      sourceLog(this.tool.name, scratch, this.session)
        .facts()
        .some((fact) => fact.kind === 'mark' && fact.mark === 'compacted')
    await until('it is compacted', isCompacted, 60_000, () => skein.explained(AGENT))
    await this.ready(AGENT)
  }

  async interrupted(prompt: string, gate: string): Promise<void> {
    const { skein, server } = this.user
    // Gemini CLI, interrupted behind a tool's result, asks its model once more by itself, and may have finished when it is looked at.
    const isStubborn = this.tool.name === 'gemini'
    const sent = isStubborn
      ? skein.run('send', AGENT, prompt, ...WAIT).catch(() => ({ outcome: 'interrupted' }))
      : skein.failing('send', AGENT, prompt, ...WAIT)
    await server.arrival(gate)
    await skein.listed(AGENT, { status: 'running' })
    await skein.run('keys', AGENT, ...(RUNNERS.find(({ name }) => name === this.tool.name)?.keys.interrupt ?? []))
    const ended = await sent
    if (isStubborn) await this.ready(AGENT)
    else expect(ended).toMatchObject({ outcome: 'interrupted' })
  }

  /** The number that a turn has in the list. */
  async numberOf(prompt: string, session = this.session): Promise<string> {
    await this.user.skein.run('ingest')
    const turns = listAt(await this.user.skein.run('turns', session), 'turns').filter(isObject)
    const number = numberAt(
      turns.find((turn) => turn.prompt === prompt),
      'number',
    )
    if (number === undefined) throw new Error(`no turn ${prompt} in ${JSON.stringify(turns)}`)
    return String(number)
  }

  /** Forks, and gives back what the model was asked by the fork. */
  async fork(name: string, source: string, ...options: string[]): Promise<{ fork: JsonObject; asked: Logged }> {
    const { skein, server } = this.user
    const prompt = `and now, ${name}?`
    let made: JsonObject | undefined
    await until(
      'the turn has its snapshot',
      async () => {
        try {
          made = await skein.run('fork', source, '--name', name, '--prompt', prompt, ...options)
        } catch (error) {
          if (!(error instanceof Error && error.message.includes('snapshot-not-found'))) throw error
        }
        return made !== undefined
      },
      30_000,
      async () => JSON.stringify(await skein.run('turns', source)),
    )
    const [fork] = listAt(made, 'forks').filter(isObject)
    if (!fork) throw new Error(`no fork in ${JSON.stringify(made)}`)
    const address = String(objectAt(fork, 'agent')?.address)
    const asked = (): Logged | undefined => server.requests.find(({ prompts }) => prompts.at(-1)?.includes(prompt))
    await until(
      `${name} asks the model`,
      async () => {
        if ((await skein.agent(address)).waiting_for === 'question') await skein.run('approve', address)
        return asked() !== undefined
      },
      90_000,
      async () => `${JSON.stringify(fork)} ${await skein.explained(address)}`,
    )
    return { fork, asked: asked() as Logged }
  }

  async kill(fork: JsonObject): Promise<void> {
    await this.user.skein.run('kill', String(objectAt(fork, 'agent')?.address))
  }

  /** What the source itself sent with this prompt, without the prompt. */
  before(prompt: string): Logged {
    const found = this.user.server.requests.find(
      ({ prompts, round }) => round === 0 && known(prompts).at(-1) === prompt,
    )
    if (!found) throw new Error(`the model was never asked ${prompt}`)
    return found
  }
}

const earlier = ({ prompts }: Logged): string[] => known(prompts).slice(0, -1)

describe.each(TOOLS)('a session of $name $version in a subdirectory of a linked worktree', (tool) => {
  it('is forked before and behind a compaction, at interrupted and failed turns, at its first, and while it works', async () => {
    await using user = await User.of([tool], {
      script: {
        rules: [
          ...writingTurns([1, 2, 3, 4]),
          {
            when: /^"?work on it/,
            steps: [
              { text: 'I begin.', do: [{ write: { path: 'half.txt', content: 'half\n' } }] },
              { gate: 'working', text: 'Worked.' },
            ],
          },
          { when: /^"?fail on it/, steps: [{ error: tool.refusal }] },
          { when: /^"?ponder on it/, steps: [{ gate: 'pondering', text: 'Pondered.' }] },
          { when: /.*/, steps: [{ text: 'Gladly.' }] },
        ],
      },
    })
    const { skein, scratch, server } = user
    const hard = await HardSession.of(user, tool)
    const { session } = hard
    await hard.write(1)
    await hard.write(2)
    await hard.compact()
    await hard.write(3)
    await hard.interrupted('work on it', 'working')
    await skein.failing('send', AGENT, 'fail on it', '--replace-draft', ...WAIT)
    await skein.run('ack', AGENT)
    await hard.write(4, '--replace-draft')
    await skein.run('send', AGENT, 'ponder on it', '--replace-draft')
    await server.arrival('pondering')
    await skein.listed(AGENT, { status: 'running' })

    const number = (prompt: string) => hard.numberOf(prompt)
    const log = sourceLog(tool.name, scratch, session)
    const before = log.content()
    const seen: string[] = []

    // Under way: refused in one line, and there before its prompt.
    const under = await number('ponder on it')
    await expect(skein.run('fork', AGENT, '--turn', under)).rejects.toThrow(/turn-open/)

    const first = await hard.fork('none', AGENT, '--turn', await number(numberedPrompt(1)), '--before')
    expect(known(first.asked.prompts)).toEqual(['and now, none?'])
    expect(first.fork).toMatchObject({ conversation: 'new', turns: 0 })
    // The first snapshot of a repository takes the longest: a file that came before it was done is named.
    expect(first.fork.late).toEqual(textFiles(String(first.fork.cwd)).map((name) => `packages/web/${name}`))
    await hard.kill(first.fork)

    if (isWhole) {
      const one = await hard.fork('one', AGENT, '--turn', await number(numberedPrompt(1)))
      expect(known(one.asked.prompts)).toEqual([numberedPrompt(1), 'and now, one?'])
      expect(String(one.fork.cwd)).toMatch(/\/packages\/web$/)
      expect(textFiles(String(one.fork.cwd))).toEqual(['file-1.txt'])
      await hard.kill(one.fork)
    }

    const two = await hard.fork('two', AGENT, '--turn', await number(numberedPrompt(2)))
    expect(known(two.asked.prompts)).toEqual([numberedPrompt(1), numberedPrompt(2), 'and now, two?'])
    expect(String(two.fork.cwd)).toMatch(/\/packages\/web$/)
    for (const text of ['File 1 is written.', 'File 2 is written.']) expect(two.asked.said.join('\n')).toContain(text)

    const three = await hard.fork('three', AGENT, '--turn', await number(numberedPrompt(3)))
    expect(earlier(three.asked)).toEqual(earlier(hard.before('work on it')))
    expect(textFiles(String(three.fork.cwd))).toEqual(['file-1.txt', 'file-2.txt', 'file-3.txt'])
    await hard.kill(three.fork)

    const work = await hard.fork('work', AGENT, '--turn', await number('work on it'))
    // Gemini CLI takes a cancelled turn out of what it sends.
    const cancelled = tool.name === 'gemini' ? [] : ['work on it']
    expect(earlier(work.asked)).toEqual([...earlier(hard.before('work on it')), ...cancelled])
    expect(earlier(work.asked)).toEqual(earlier(hard.before('fail on it')))
    expect(textFiles(String(work.fork.cwd))).toContain('half.txt')
    await hard.kill(work.fork)

    const fail = await hard.fork('fail', AGENT, '--turn', await number('fail on it'))
    seen.push(`failed turn: ${earlier(fail.asked).includes('fail on it') ? 'sent' : 'not sent'}`)
    expect(earlier(fail.asked)).toEqual(earlier(hard.before(numberedPrompt(4))))
    await hard.kill(fail.fork)

    if (isWhole) {
      const last = await hard.fork('last', AGENT, '--turn', under, '--before')
      expect(earlier(last.asked)).toEqual(earlier(hard.before('ponder on it')))
      await hard.kill(last.fork)
    }

    // A fork of a fork, at its own turn, and at one of its origin's.
    const twoAgain = String(two.fork.session)
    if (isWhole) {
      const own = await hard.fork('own', twoAgain, '--turn', await hard.numberOf('and now, two?', twoAgain))
      expect(known(own.asked.prompts)).toEqual([
        ...[numberedPrompt(1), numberedPrompt(2)],
        ...['and now, two?', 'and now, own?'],
      ])
      await hard.kill(own.fork)
    }
    const shared = await hard.fork('shared', twoAgain, '--turn', await hard.numberOf(numberedPrompt(1), twoAgain))
    expect(known(shared.asked.prompts)).toEqual([numberedPrompt(1), 'and now, shared?'])
    expect(textFiles(String(shared.fork.cwd))).toEqual(['file-1.txt'])

    // Its own program is at work, and may add lines of its own.
    const now = log.content()
    if (log.isDatabase) expect(now.toString().split('\n')).toEqual(before.toString().split('\n'))
    expect(now.subarray(0, before.length).equals(before)).toBe(true)
    expect(now.toString()).not.toContain('and now')
    const added = now.length === before.length ? '' : ` (${now.length - before.length} added by its program)`
    table.push([tool.name, `${isWhole ? 9 : 6} forks`, `${before.length} bytes identical${added}`, ...seen])
  }, 600_000)
})

const DELEGATING = TOOLS.filter(({ name }) => name === 'claude' || name === 'opencode')

describe.each(DELEGATING)('a session of $name $version with a sub-agent', (tool) => {
  it('is forked at the turn that had it, and at the next one, without what the sub-agent said to itself', async () => {
    await using user = await User.of([tool], {
      script: {
        rules: [
          ...writingTurns([1, 3]),
          {
            when: /^"?delegate it/,
            steps: [{ text: 'I delegate.', do: [{ delegate: 'sub-task: look' }] }, { text: 'Delegated.' }],
          },
          {
            when: /^"?sub-task: look/,
            steps: [{ text: 'Inner words.', do: [tool.doesFreely] }, { text: 'Looked around.' }],
          },
          { when: /.*/, steps: [{ text: 'Gladly.' }] },
        ],
      },
    })
    const { skein, scratch, server } = user
    const hard = await HardSession.of(user, tool)
    await hard.write(1)
    await skein.run('send', AGENT, 'delegate it', ...WAIT)
    await until(
      'the sub-agent is done',
      () => server.requests.some(({ prompt, round }) => /sub-task: look/.test(prompt) && round > 0),
      60_000,
    )
    await hard.ready(AGENT)
    await hard.write(3)
    const log = sourceLog(tool.name, scratch, hard.session)
    const before = log.content()

    const at = await hard.fork('at', AGENT, '--turn', await hard.numberOf('delegate it'))
    expect(earlier(at.asked)).toEqual([numberedPrompt(1), 'delegate it'])
    expect(at.asked.said.join('\n')).not.toContain('Inner words.')
    expect(textFiles(String(at.fork.cwd))).toEqual(['file-1.txt'])
    await hard.kill(at.fork)
    const behind = await hard.fork('behind', AGENT, '--turn', await hard.numberOf(numberedPrompt(3)))
    expect(earlier(behind.asked)).toEqual([...earlier(hard.before(numberedPrompt(3))), numberedPrompt(3)])
    expect(behind.asked.said.join('\n')).not.toContain('Inner words.')
    expect(log.content().equals(before)).toBe(true)
    table.push([`${tool.name} with a sub-agent`, '2 forks', `${before.length} bytes identical`, ''])
  }, 300_000)
})

it('a fork that Codex made itself, outside Skein, is forked at a turn of its origin and at one of its own', async () => {
  await using user = await User.of([codex], { script: SCRIPT })
  const { skein, scratch, server } = user
  const programs = new PrintMode(scratch, server)
  const origin = await recorded(programs, 'codex')
  const own = await programs.begin('codex', 'go on (in the fork)', origin)
  await skein.run('ingest')
  const parts = [origin, own].map((session) => sourceLog('codex', scratch, session))
  const before = parts.map((log) => log.content())
  expect(before[1]?.toString()).not.toContain('PELICAN')
  const forked = async (name: string, turn: string): Promise<string[]> => {
    const prompt = `once more, ${name}?`
    await skein.run('fork', own, '--turn', turn, '--chat-only', '--name', name, '--prompt', prompt)
    const asked = () => server.requests.find(({ prompts }) => prompts.at(-1) === prompt)
    await until(
      `${name} asks the model`,
      () => asked() !== undefined,
      90_000,
      () => skein.explained(name),
    )
    return [...(asked()?.prompts ?? [])]
  }
  const [first = '', second = '', third = ''] = promptsOf('codex')
  expect(await forked('early', '2')).toEqual([first, second, 'once more, early?'])
  expect(await forked('late', '4')).toEqual([first, second, third, 'go on (in the fork)', 'once more, late?'])
  for (const [n, log] of parts.entries()) expect(log.content().equals(before[n] ?? Buffer.alloc(0))).toBe(true)
  // Codex itself cannot open its fork without the origin; the archive has its words.
  rmSync(parts[0]?.path ?? '')
  expect(await forked('alone', '4')).toEqual([first, second, third, 'go on (in the fork)', 'once more, alone?'])
  table.push(["Codex's own fork", '3 forks', `${before.map(({ length }) => length).join(' + ')} bytes identical`, ''])
}, 300_000)

const table = [['tool', 'forks', 'original log', 'notes']]
afterAll(() => console.log(table.map((row) => `| ${row.join(' | ')} |`).join('\n')))
