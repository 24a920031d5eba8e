import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { claudeLike, git, projectFolder, SESSION, TurnedLog } from '../turned-log.js'
import { type Workshop, workshop } from '../workshop.js'

export { claudeLike, git, projectFolder, SESSION }

/** A session of three turns, each of which wrote a file, with the snapshots of all but the third. */
export async function forkable(
  options: Parameters<typeof workshop>[0] = {},
  { below = '', isGit = true }: { below?: string; isGit?: boolean } = {},
): Promise<Workshop & { log1: string }> {
  const shop = await workshop({ runners: [claudeLike()], ...options })
  const { project, root, home } = shop
  const cwd = join(project, below)
  mkdirSync(cwd, { recursive: true })
  writeFileSync(join(project, 'README.md'), 'hello\n')
  writeFileSync(join(project, '.gitignore'), '*.local\nbuild/\n')
  if (isGit) {
    git(project, 'init', '-q', '-b', 'main')
    git(project, 'add', '.')
    git(project, 'commit', '-q', '-m', 'first')
  }
  const log = new TurnedLog(cwd)
  for (const turn of [1, 2, 3]) {
    log.prompt(turn, `do ${turn}`)
    const snapshot = { directory: cwd, session: SESSION }
    if (turn < 3) await home.snapshots.capture({ ...snapshot, asOfMs: TurnedLog.begun(turn), moment: 'prompt' })
    writeFileSync(join(cwd, `file-${turn}.txt`), `${turn}\n`)
    log.reply(turn, `done ${turn}`)
    if (turn < 3) await home.snapshots.capture({ ...snapshot, asOfMs: TurnedLog.ended(turn), moment: 'stop' })
  }
  const log1 = log.write(root)
  await home.history.ingest({})
  return { ...shop, log1 }
}

export const AFTER = { source: SESSION, edge: 'after' as const, code: true, chat: true, count: 1 }
export const texts = (directory: string): string[] => readdirSync(directory).filter((name) => name.endsWith('.txt'))

/** Everything that a fork could have left. */
export async function leftovers({ project, root, home }: Workshop): Promise<object> {
  const trees = `${project}.worktrees`
  const forks = join(home.paths.agents, 'forks')
  const notes = existsSync(forks) ? readdirSync(forks) : []
  return {
    trees: existsSync(trees) ? readdirSync(trees) : [],
    known: git(project, 'worktree', 'list').split('\n').length,
    branches: git(project, 'branch', '--format=%(refname:short)').split('\n'),
    logs: readdirSync(join(root, '.claude/projects')).flatMap((name) =>
      readdirSync(join(root, '.claude/projects', name)),
    ),
    agents: (await home.roster.agents()).map(({ address }) => address),
    notes: notes.filter((name) => name.endsWith('.json')),
  }
}
export const NOTHING = { trees: [], known: 1, branches: ['main'], logs: [`${SESSION}.jsonl`], agents: [], notes: [] }
