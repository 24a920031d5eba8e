import { statSync } from 'node:fs'
import { refuseDead, UnsuitableFile } from '../../disk/index.js'

/** Why nothing can work in a directory; undefined when it can. */
export function directoryProblem(path: string): string | undefined {
  const named = path.length > 200 ? `${path.slice(0, 200)}…` : path
  try {
    refuseDead(path)
    const stat = statSync(path, { throwIfNoEntry: false })
    if (!stat) return `there is no directory ${named}`
    return stat.isDirectory() ? undefined : `${named} is not a directory`
  } catch (error) {
    if (error instanceof UnsuitableFile) return `${named} is ${error.code}`
    return `${named} cannot be used (${(error as NodeJS.ErrnoException).code})`
  }
}
