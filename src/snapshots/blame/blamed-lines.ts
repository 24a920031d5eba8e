import type { Git } from '../git.js'
import { shown } from '../snapshot.js'
import type { FileVersion } from './file-versions.js'
import { type AskedFile, graphOf, importGraph, UNLIKE } from './line-graph.js'
import { type BlamedLine, linesIn } from './line-origins.js'
import type { TurnCommits } from './turn-commits.js'

const BRANCH = 'refs/heads/file'

/** The lines of a file with their origins: in a repository of ours the versions become a history that git's own blame walks through. */
export async function blamedLines(
  git: Git,
  scratch: string,
  { asked, versions, turns }: { asked: AskedFile; versions: readonly FileVersion[]; turns: TurnCommits },
  signal?: AbortSignal,
): Promise<BlamedLine[]> {
  const { content, commits, path } = asked
  const isUnlike = commits.length > 0 && 'bytes' in content
  const file = isUnlike ? { ...asked, content: { bytes: Buffer.concat([UNLIKE, content.bytes]) } } : asked
  const marks = await importGraph(
    git,
    scratch,
    BRANCH,
    graphOf(versions, file, (version) => turns.isBrought(version)),
  )
  const args = ['--git-dir', scratch, 'blame', '--porcelain', '--root', BRANCH, '--', shown(path)]
  const lines = linesIn(await git.bytes(args, { signal }), { marks, versions, turns })
  return isUnlike ? lines.slice(1).map((line) => ({ ...line, number: line.number - 1 })) : lines
}
