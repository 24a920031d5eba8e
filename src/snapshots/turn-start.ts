import { createHash } from 'node:crypto'
import { guardedText } from '../disk/index.js'
import { redactAsCommand } from '../privacy/index.js'
import type { TurnStart } from './snapshot.js'

const MOST_BYTES = 4 * 1024 * 1024

export interface StartFacts extends Omit<TurnStart, 'arguments' | 'settings_hash'> {
  arguments?: readonly string[]
  /** Instruction and settings files that the program reads, in its order. */
  files?: readonly string[]
}

/** What reproduces the start of a turn: arguments lose their secrets, files become one hash. */
export function turnStart({ arguments: given, files, ...facts }: StartFacts): TurnStart {
  return {
    ...facts,
    ...(given ? { arguments: withoutSecrets(given) } : {}),
    ...(files ? { settings_hash: hashOf(files) } : {}),
  }
}

/** A secret may be named by the argument before it (`--api-key`), so each is also looked at behind that one. */
function withoutSecrets(given: readonly string[]): string[] {
  return given.map((argument, at) => {
    const alone = redactAsCommand(argument).text
    return redactAsCommand(`${given[at - 1] ?? ''} ${alone}`).text.endsWith(alone) ? alone : HIDDEN
  })
}

const HIDDEN = '[redacted]'

/** The same files with the same content have the same hash; a missing file counts as missing. */
function hashOf(files: readonly string[]): string {
  const hash = createHash('sha256')
  for (const path of files) {
    const text = guardedText(path, MOST_BYTES)
    hash.update(`${JSON.stringify(path)} ${text === undefined ? 'missing' : Buffer.byteLength(text)}\n${text ?? ''}`)
  }
  return hash.digest('hex')
}
