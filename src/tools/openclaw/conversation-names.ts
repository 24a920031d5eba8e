import { dirname, join } from 'node:path'
import { statOf } from '../../disk/index.js'
import { isObject, textAt } from '../json-value.js'
import { smallJson } from '../log/log-files.js'
import type { LogRef } from '../log/log-tool.js'

/**
 * What conversations are called, by the store beside their transcripts: their own name, or their key (`agent:main:discord:…`).
 * The last store is remembered: there is one for thousands of transcripts.
 */
export class ConversationNames {
  #stamp = ''
  #names = new Map<string, string>()

  of({ path, session }: LogRef): string | undefined {
    const store = join(dirname(path), 'sessions.json')
    const stat = statOf(store)
    if (!stat || session === undefined) return undefined
    const stamp = `${store}:${stat.ino}:${stat.size}:${stat.mtimeMs}`
    if (stamp !== this.#stamp) {
      this.#names = namesIn(store)
      this.#stamp = stamp
    }
    return this.#names.get(session)
  }
}

function namesIn(store: string): Map<string, string> {
  const entries = Object.entries(smallJson(store) ?? {}).flatMap(([key, entry]) => {
    const session = isObject(entry) ? textAt(entry, 'sessionId') : undefined
    return isObject(entry) && session ? [[session, textAt(entry, 'displayName') ?? key] as const] : []
  })
  return new Map(entries.reverse()) // of two with the same session the first is meant
}
