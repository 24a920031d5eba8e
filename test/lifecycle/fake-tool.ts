import { fileURLToPath } from 'node:url'
import type { SpooledMessage } from '../../src/journal/index.js'
import { type Evidence, isSessionId, type Wait } from '../../src/model/index.js'
import type { AgentReport, Dialog, Launch, Preparation, ScreenReading, ToolRunner } from '../../src/tools/index.js'

const PROGRAM = fileURLToPath(new URL('../workers/fake-agent.mjs', import.meta.url))

/** How Skein runs the program in `test/workers/fake-agent.mjs`. `tells: false` is the same program without hooks. */
export function fakeTool({ name = 'fake', tells = true }: { name?: string; tells?: boolean } = {}): ToolRunner {
  return {
    name,
    icon: 'f',
    can: { chooseId: 'flag', resume: true, fork: false, tells, asks: true, choosesModel: true, mcp: false },
    prepare: (launch) => prepare(launch, tells),
    readMessage,
    readTitle: () => undefined,
    readScreen: ({ lines }) => readScreen(lines),
    checkText: (text) =>
      text.startsWith('!')
        ? { kind: 'refused', because: 'It would run in a shell', next: 'Put a word before it' }
        : { kind: 'ok', text },
    keys: { interrupt: ['Escape'], clear: ['C-u'], quit: ['C-d'] },
    isProcess: (process) => process.includes('node') || process.includes('fake'),
  }
}

function prepare({ kind, session, command, args = [], spool, model }: Launch, tells: boolean): Preparation {
  const conversation = session ? [kind === 'resume' ? '--resume' : '--session-id', session] : []
  return {
    argv: [
      ...(command ?? ([process.execPath, PROGRAM] as const)),
      ...conversation,
      ...(model ? ['--model', model] : []),
      ...args,
    ],
    env: tells ? { FAKE_HOOK: spool.command } : {},
    files: [],
    ...(session ? { session } : {}),
  }
}

interface Said {
  session?: string
  event?: string
  how?: 'startup' | 'resume' | 'clear'
  prompt?: string
  reply?: string
  kind?: Wait
  what?: string
  isLoose?: boolean
  background?: number
}

function readMessage({ payload }: SpooledMessage): AgentReport | undefined {
  const said = payload as Said
  const session = isSessionId(said.session) ? said.session : undefined
  const identity = session ? { identity: { session, how: said.how ?? ('unchanged' as const) } } : {}
  const says = (status: Evidence['status'], facts: Partial<Evidence> = {}): Omit<Evidence, 'at'> => ({
    source: 'hook',
    status,
    rule: `hook:${said.event}`,
    ...facts,
  })
  switch (said.event) {
    case 'start':
      return { ...identity, evidence: says('idle') }
    case 'prompt':
      return { ...identity, evidence: says('running'), prompt: said.prompt ?? '' }
    case 'ask':
      return {
        ...identity,
        evidence: says('waiting', { waiting_for: said.kind ?? 'permission', reason: `asks for ${said.what || 'it'}` }),
        ...(said.what
          ? {
              request: {
                id: `run ${said.what}`,
                tool: 'Run',
                kind: said.kind ?? 'permission',
                what: said.what,
                // Of a plan its dialog shows nothing, and of some tools nobody knows what.
                ...(said.kind === 'plan' || said.isLoose ? {} : { exactly: said.what }),
              },
            }
          : {}),
      }
    case 'answered':
      return { ...identity, evidence: says('running'), ...(said.what ? { settled: `run ${said.what}` } : {}) }
    case 'background':
      return { ...identity, background: said.background ?? 0 }
    case 'stop':
      return { ...identity, evidence: says('idle'), reply: said.reply ?? '' }
    default:
      return undefined
  }
}

const MEANINGS: Readonly<Record<string, Dialog['options'][number]['meaning']>> = {
  No: 'deny',
  Yes: 'allow',
  'Yes, always': 'allow-always',
  'Yes, and never ask again': 'auto',
  'Yes, and stop asking': 'auto',
  'Yes, go on': 'allow',
  'No, keep planning': 'deny',
}

const THING = '  $ '

function readScreen(lines: readonly string[]): ScreenReading {
  const shown = lines.filter((line) => line.trim() !== '')
  const at = shown.findIndex((line) => line.startsWith('QUESTION: '))
  if (at >= 0) {
    const question = shown[at]?.slice('QUESTION: '.length) ?? ''
    // The thing itself may have lines of its own, below a question that is always the same.
    const things = shown.slice(at + 1).filter((line) => line.startsWith(THING))
    const below = things.length > 0 ? things.map((line) => line.slice(THING.length)).join('\n') : undefined
    const options = shown.slice(at + 1 + things.length).map((line) => {
      const label = line.slice(2).trimEnd()
      return { label, meaning: MEANINGS[label] ?? ('other' as const), isSelected: line.startsWith('❯') }
    })
    const kind = question.includes('plan') ? 'plan' : 'permission'
    const thing = below ?? /^May I run (.*)\?$/.exec(question)?.[1]
    const dialog: Dialog = {
      kind,
      question,
      subject: below ?? question,
      ...(thing ? { thing } : {}),
      options,
      axis: 'vertical',
    }
    return { status: 'waiting', rule: 'fake/dialog@1', waiting_for: kind, reason: question, dialog }
  }
  const last = shown.at(-1) ?? ''
  if (last.startsWith('WORKING')) return { status: 'running', rule: 'fake/working@1' }
  const draft = /^> ?(.*)$/.exec(last)?.[1]?.trim()
  if (draft === undefined) return { status: 'unknown', reason: 'no rule matches this screen' }
  const isNew = shown[0] === 'NOTHING WAS SAID YET' ? { isNew: true as const } : {}
  return { status: 'idle', rule: 'fake/prompt@1', ...(draft === '' ? {} : { draft }), ...isNew }
}
