import { closeSync, openSync, rmSync } from 'node:fs'
import { writeFully } from '../../disk/index.js'
import { SkeinError } from '../../model/index.js'

/** Writes a file that is not there yet, for its owner alone. Nothing is ever overwritten, and no half file stays behind. */
export function writeNewFile(path: string, content: string): void {
  try {
    const file = openSync(path, 'wx', 0o600)
    try {
      writeFully(file, Buffer.from(content))
    } catch (error) {
      rmSync(path, { force: true })
      throw error
    } finally {
      closeSync(file)
    }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : undefined
    if (code === undefined) throw error
    const cause = { cause: error }
    if (code === 'EEXIST')
      throw new SkeinError('bad-input', `${path} already exists`, 'Use another name, or remove it first', cause)
    throw new SkeinError(
      'bad-input',
      `Cannot write ${path} (${code})`,
      'Name a file in a directory you can write to',
      cause,
    )
  }
}
