import type { FactsFrom } from '../../home/index.js'
import { type Agent, plainLine, quotedText, SkeinError } from '../../model/index.js'
import type { AgentRun } from '../agent-run.js'
import type { Parts } from '../parts.js'
import type { Digest } from './digest.js'
import { digestText } from './digest-text.js'
import { type GitRepository, type GitState, gitState } from './git-state.js'

/** What a successor has to know, as far as it can be found out without asking a model. */
export interface Collected {
  git: GitState
  work: CollectedWork
  /** Absent when the session has neither a log nor an archive. */
  digest?: Digest & { from: FactsFrom; is_part: boolean }
}

/** Work and mail of an agent, one line each. */
export interface CollectedWork {
  hooked: string[]
  inbox: string[]
  ready: string[]
  in_progress: string[]
  /** Why there is none, where its provider does not answer. */
  problem?: string
}

const NO_WORK: CollectedWork = { hooked: [], inbox: [], ready: [], in_progress: [] }
/** How many lines of each. */
const MOST = { changed: 10, untracked: 5, commits: 5, inbox: 10, ready: 10, in_progress: 5 }
const LINE = 160
/** How much of a message is kept. */
export const MESSAGE_CHARS = 16_000

/** Reads everything at once: git works while the log is read. Nothing is changed. */
export async function collect(
  parts: Pick<Parts, 'home' | 'environment'>,
  agent: Agent,
  run: AgentRun | undefined,
  { digest: wantsDigest = true }: { digest?: boolean } = {},
): Promise<Collected> {
  const cwd = run?.recipe.cwd ?? agent.project_path
  const { promise: isRunning, resolve: onRunning } = withResolvers()
  const stating =
    cwd === undefined
      ? { problem: 'its directory is not known' }
      : gitState(cwd, parts.environment.env, { onRunning }).finally(onRunning)
  if (cwd === undefined) onRunning()
  const [git, work, digest] = await Promise.all([
    stating,
    wantsDigest ? workOf(parts, agent) : NO_WORK,
    run && wantsDigest ? digestOfRun(parts, run, isRunning) : undefined,
  ])
  return { git, work, ...(digest ? { digest } : {}) }
}

/** A promise and what fulfils it. */
function withResolvers(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => {}
  const promise = new Promise<void>((done) => {
    resolve = done
  })
  return { promise, resolve }
}

async function workOf(
  { home: { work } }: Pick<Parts, 'home'>,
  { address, id, group_path }: Agent,
): Promise<CollectedWork> {
  const agent = { address, id }
  try {
    const [hooked, inbox] = await Promise.all([work.hooked(agent), work.inbox(agent, { limit: MOST.inbox + 1 })])
    const sought = { status: ['open'], ...(group_path ? { group: group_path } : {}), limit: MOST.ready + 1 } as const
    const ready = hooked.problem ? [] : await work.list(sought)
    const line = ({ id: unit, title, priority }: { id: string; title: string; priority: number }): string =>
      `${unit} (P${priority}) "${title}"`
    return {
      hooked: [
        ...hooked.work.filter(({ status }) => status !== 'in_progress').map(line),
        ...hooked.mail.map(({ id: mail, from, subject }) => `mail ${mail} from ${from}: "${subject}"`),
      ],
      inbox: inbox.mail.map(({ id: mail, from, subject }) => `${mail} from ${from}: "${subject}"`),
      ready: ready.map(line),
      in_progress: hooked.work.filter(({ status }) => status === 'in_progress').map(line),
      ...(hooked.problem ? { problem: hooked.problem.because } : {}),
    }
  } catch (error) {
    if (!(error instanceof SkeinError)) throw error
    return { ...NO_WORK, problem: error.message } // the provider does not answer: a handoff must not wait for it
  }
}

/** Loaded when it is needed, as everything that reads logs is. Nothing is started while a log is read, so git has to be running by then. */
async function digestOfRun(
  { home }: Pick<Parts, 'home'>,
  { recipe, binding }: AgentRun,
  isRunning: Promise<void>,
): Promise<Collected['digest'] | undefined> {
  if (!binding || binding.how === 'made') return undefined
  const { digestOf } = await import('./digest.js')
  const log = binding.log === undefined ? {} : { log: { tool: recipe.tool, path: binding.log } }
  return home.history.facts(
    binding.session,
    (facts, { from, isPart, kept }) => ({ ...digestOf(facts, kept), from, is_part: isPart }),
    { ...log, cwd: recipe.cwd, after: isRunning },
  )
}

/** What is collected as text for a model: everything that somebody else wrote is quoted. */
export function collectedText({ git, work, digest }: Collected): string {
  const sections = [
    ['## Workspace', '', ...('problem' in git ? [`No state of git: ${plainLine(git.problem, LINE)}`] : gitLines(git))],
    ...(work.problem === undefined ? [] : [['## Work', '', plainLine(work.problem, LINE)]]),
    titled('## Hooked work', work.hooked, MOST.in_progress),
    titled('## Inbox', work.inbox, MOST.inbox),
    titled('## Ready work', work.ready, MOST.ready),
    titled('## In progress', work.in_progress, MOST.in_progress),
    ...(digest ? [['## Conversation', '', ...noteOf(digest), digestText(digest)]] : []),
  ]
  return sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')
}

const titled = (title: string, lines: readonly string[], most: number): string[] =>
  lines.length === 0 ? [] : [title, '', ...listed(lines, most)]

function listed(lines: readonly string[], most: number): string[] {
  const more = lines.length - most
  return [
    ...lines.slice(0, most).map((line) => `- ${plainLine(line, LINE)}`),
    ...(more > 0 ? [`- and ${more} more`] : []),
  ]
}

const noteOf = ({ from, is_part }: { from: FactsFrom; is_part: boolean }): string[] => [
  ...(from === 'archive' ? ['From the archive: the log is gone.', ''] : []),
  ...(from === 'journal' ? ['Its program writes no log: these are its prompts, without replies.', ''] : []),
  ...(is_part ? ['From the beginning and the end of a long log.', ''] : []),
]

function gitLines(git: GitRepository): string[] {
  const head = git.branch ?? (git.head ? `detached at ${git.head.slice(0, 12)}` : 'unborn')
  const distance = git.upstream ? ` (${git.upstream}: ${git.ahead} ahead, ${git.behind} behind)` : ''
  const group = (title: string, lines: readonly string[], most: number): string[] =>
    lines.length === 0 ? [] : ['', `${title}: ${lines.length}`, ...listed(lines, most)]
  const commits = (list: GitRepository['recent']): string[] => list.map(({ id, subject }) => `${id} "${subject}"`)
  return [
    `Branch: ${plainLine(head + distance, LINE)}${git.head ? '' : ', without a commit'}`,
    ...group(
      'Changed files',
      git.changed.map(({ path, state }) => `${state} ${path}`),
      MOST.changed,
    ),
    ...group('Untracked', git.untracked, MOST.untracked),
    ...group('Stashes', git.stashes, MOST.commits),
    ...group('Unpushed commits', commits(git.unpushed ?? []), MOST.commits),
    ...group('Recent commits', commits(git.recent), MOST.commits),
    ...git.missing.map((one) => `Not known: ${plainLine(one, LINE)}`),
  ]
}

/** What is neither committed nor pushed, in words; empty when there is nothing to lose. */
export function unsavedWork(git: GitState): string[] {
  if ('problem' in git) return []
  const count = (n: number, what: string): string[] => (n === 0 ? [] : [`${n} ${what}${n === 1 ? '' : 's'}`])
  return [
    ...count(git.changed.length, 'uncommitted file'),
    ...count(git.untracked.length, 'untracked file'),
    ...count(git.unpushed?.length ?? 0, 'unpushed commit'),
  ]
}

/** The message of a handoff: what was given, quoted as what it is, then what was collected. */
export function handoffBody(message: string | undefined, collected: Collected | undefined): string {
  const given = message?.trim()
  return [...(given ? [quotedText(given, MESSAGE_CHARS)] : []), ...(collected ? [collectedText(collected)] : [])].join(
    '\n\n',
  )
}

/** What was given in such a message, as it is quoted there; empty where everything was collected. */
export function givenIn(body: string): string {
  const lines = body.split('\n')
  const end = lines.findIndex((line) => !line.startsWith('>'))
  return lines.slice(0, end < 0 ? lines.length : end).join('\n')
}
