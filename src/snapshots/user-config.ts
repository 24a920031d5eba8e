import { join } from 'node:path'
import { guardedText, isThere } from '../disk/index.js'
import { byDepth, patternsAtRoot } from './frozen-ignore.js'
import type { Git } from './git.js'
import { refusePipesOf } from './readable-repository.js'
import type { Repository } from './repository.js'

const MOST_BYTES = 4 * 1024 * 1024

/** The user's git configuration for a repository, by name in lower case. Reading it runs nothing that it names. */
export async function userConfig(
  { gitDirectory }: Repository,
  home: string | undefined,
  git: Git,
): Promise<Map<string, string>> {
  if (home !== undefined) refusePipesOf(home)
  const fields = await git.fields(['--git-dir', gitDirectory, 'config', '--list', '-z'], {
    env: home === undefined ? {} : { HOME: home, GIT_CONFIG_GLOBAL: undefined },
  })
  return new Map(fields.map((field) => [field.split('\n', 1)[0] ?? '', field.slice(field.indexOf('\n') + 1)]))
}

/** What a capture asks for, and what leads to further files. Names of settings are written with these letters or not at all. */
const OF_INTEREST = /excludesfile|attributesfile|autocrlf|include|worktreeconfig/i

/** The same for a capture: empty when no file of it mentions what a capture asks for, and then git is not started. */
export async function captureConfig(
  repository: Repository,
  home: string | undefined,
  git: Git,
): Promise<Map<string, string>> {
  const ofHome = home === undefined ? [] : [join(home, '.gitconfig'), join(home, '.config', 'git', 'config')]
  const files = [join(repository.commonDirectory, 'config'), ...ofHome].filter(isThere)
  const isPlain = (path: string): boolean => !OF_INTEREST.test(guardedText(path, MOST_BYTES) ?? 'include')
  return files.every(isPlain) ? new Map() : userConfig(repository, home, git)
}

/** All ignore rules that are in force now, as patterns at the worktree's root. `files` names the ignore files inside it. */
export function ignoreRules(
  root: string,
  files: readonly string[],
  places: { repository?: Repository | undefined; config?: ReadonlyMap<string, string>; home?: string | undefined },
): string[] {
  const { repository, config, home } = places
  const everywhere = config?.get('core.excludesfile') ?? (home && join(home, '.config', 'git', 'ignore'))
  const expanded = home === undefined ? everywhere : everywhere?.replace(/^~(?=\/)/, home)
  const outside = [expanded, repository && join(repository.commonDirectory, 'info', 'exclude')]
  const text = (path: string | undefined): string => (path ? (guardedText(path, MOST_BYTES) ?? '') : '')
  return [
    ...outside.flatMap((path) => patternsAtRoot(text(path), '')),
    ...[...files].sort(byDepth).flatMap((file) => {
      const content = guardedText(join(root, Buffer.from(file, 'latin1').toString()), MOST_BYTES) ?? ''
      return patternsAtRoot(content, Buffer.from(file, 'latin1').toString().split('/').slice(0, -1).join('/'))
    }),
  ]
}

export const isIgnoreFile = (path: string): boolean => path === '.gitignore' || path.endsWith('/.gitignore')
