import type { BareStore } from './bare-store.js'
import type { Git } from './git.js'

/** The messages of commits; one that is missing is left out. */
export async function messagesOf(
  git: Git,
  store: Pick<BareStore, 'at'>,
  commits: readonly string[],
): Promise<{ commit: string; message: string }[]> {
  if (commits.length === 0) return []
  const bytes = await git.bytes([...store.at(), 'cat-file', '--batch', '--buffer'], {
    input: commits.map((commit) => `${commit}\n`).join(''),
  })
  const found: { commit: string; message: string }[] = []
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(10, at)
    const [commit = '', kind = '', size = '0'] = bytes.toString('latin1', at, end).split(' ')
    if (kind === 'missing') {
      at = end + 1
      continue
    }
    found.push({ commit, message: bytes.toString('utf8', end + 1, end + 1 + Number(size)) })
    at = end + 1 + Number(size) + 1
  }
  return found
}
