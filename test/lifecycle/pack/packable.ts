import { chmodSync, existsSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Context } from '../../../src/model/index.js'
import { claudeLike, git, SESSION, TurnedLog } from '../turned-log.js'
import { type Workshop, workshop } from '../workshop.js'

export { claudeLike, git, SESSION }

export const SECRET = 'ghp_abcdefghijklmnopqrstuvwxyz0123456789'

/** A session of three turns with the snapshots of each, in a repository or not. */
export async function packable({
  clock,
  ...how
}: Turned & { clock?: Context['clock'] } = {}): Promise<Workshop & { file: string; status: string }> {
  const shop = await workshop({ runners: [claudeLike()], ...(clock ? { clock } : {}) })
  return { ...shop, file: join(shop.root, 'session.skein'), status: await threeTurns(shop, how) }
}

interface Turned {
  isGit?: boolean
  format?: 'sha1' | 'sha256'
}

/** Has the session in this home, and says what `git status` printed after its second turn. `root` is the home of its user. */
export async function threeTurns(
  { project, root, home }: Pick<Workshop, 'project' | 'root' | 'home'>,
  { isGit = true, format = 'sha1' }: Turned = {},
): Promise<string> {
  writeFileSync(join(project, 'README.md'), 'hello\n')
  if (isGit) {
    git(project, 'init', '-q', '-b', 'work', `--object-format=${format}`)
    git(project, 'add', '.')
    git(project, 'commit', '-q', '-m', 'first')
  }
  let status = ''
  const log = new TurnedLog(project)
  for (const turn of [1, 2, 3]) {
    log.prompt(turn, `do ${turn} in ${project}/src`)
    const snapshot = { directory: project, session: SESSION }
    await home.snapshots.capture({ ...snapshot, asOfMs: TurnedLog.begun(turn), moment: 'prompt' })
    writeFileSync(join(project, `file-${turn}.txt`), `${turn}\n`)
    if (turn === 2) {
      writeFileSync(join(project, 'run.sh'), '#!/bin/sh\n')
      chmodSync(join(project, 'run.sh'), 0o755)
      symlinkSync('/etc', join(project, 'link'))
      writeFileSync(join(project, 'README.md'), 'changed\n')
      if (isGit) git(project, 'add', 'file-1.txt')
    }
    log.reply(turn, `done ${turn}, the token is ${SECRET}`)
    await home.snapshots.capture({ ...snapshot, asOfMs: TurnedLog.ended(turn), moment: 'stop' })
    if (turn === 2 && isGit) status = git(project, 'status', '--porcelain')
  }
  log.write(root)
  await home.history.ingest({})
  return status
}

export async function packed(shop: Workshop & { file: string }, more: object = {}) {
  const session = await shop.home.sessions.find(SESSION)
  const request = { sessions: [session], output: shop.file, force: false, code: true, verbatim: false }
  return shop.agents.pack({ ...request, ...more })
}

export const filesOf = (root: string): string[] =>
  readdirSync(root)
    .filter((name) => name !== '.git')
    .sort()

export const leftIn = async ({ root, home }: Workshop): Promise<object> => ({
  agents: (await home.roster.agents()).map(({ address }) => address),
  sessions: (await home.sessions.query({})).sessions.map(({ id }) => id),
  notes: existsSync(join(home.paths.agents, 'forks'))
    ? readdirSync(join(home.paths.agents, 'forks')).filter((name) => name.endsWith('.json'))
    : [],
  stores: existsSync(home.paths.snapshots) ? readdirSync(home.paths.snapshots) : [],
  logs: existsSync(join(root, '.claude/projects')) ? readdirSync(join(root, '.claude/projects')) : [],
  into: existsSync(join(root, 'there')),
})
export const NOTHING = { agents: [], sessions: [], notes: [], stores: [], logs: [], into: false }
