import { dirname, join, relative } from 'node:path'
import { namesIn } from '../disk/index.js'
import { isNewerFile } from './file-version.js'
import type { ProfileStore } from './profile-store.js'

/** Of all JSON files that are checked here. */
const OUR_VERSION = 1

/** Files that a newer Skein wrote, relative to the root. This one reads around them and leaves them unchanged. */
export function newerFiles({ paths, archive }: Pick<ProfileStore, 'paths' | 'archive'>): string[] {
  const root = dirname(dirname(paths.directory))
  const json = [root, paths.directory, paths.sessions, paths.agents, join(paths.agents, 'removed')].flatMap(
    (directory) =>
      namesIn(directory)
        .filter((name) => /\.json(?:\.bak(?:\.\d)?)?$/.test(name))
        .map((name) => join(directory, name)),
  )
  const bundles = new Set<string>()
  for (const read of archive.all()) if ('why' in read && read.why === 'newer') bundles.add(read.path)
  return [...json.filter((path) => isNewerFile(path, OUR_VERSION)), ...bundles]
    .map((path) => relative(root, path))
    .sort()
}
