import { dirname } from 'node:path'
import type { ProfilePaths } from './paths.js'
import { purgeStamp } from './purge-stamp.js'

/** What people and programs say of a session in words of their own. Everything else is a name or a number that is needed as it is. */
const WORDS = ['title', 'subject', 'message', 'reason', 'branch'] as const

/**
 * Without any of these in it no rule finds anything: a word that names one, an option of a command, or a long word with digits or odd
 * capitals, as some tokens are made of letters alone. The rules take 50 ms to load, and most titles are a few words.
 */
const NAMES_A_SECRET = /[:=]|\s-[a-z]|pass|pwd|secret|token|key/i
const LONG_AND_ODD = /(?=\S*(?:[0-9]|[a-z][A-Z]|[A-Z]{2}))\S{16,}/
/** Something hidden, or an escape, may break all of these. */
const HIDES = /[\\\x00-\x08\x0e-\x1f\xad\u200b-\u200f\u2060\ufeff]/
const mayHoldSecret = (text: string): boolean =>
  NAMES_A_SECRET.test(text) || LONG_AND_ODD.test(text) || HIDES.test(text)

/** The same without secrets, and without what was purged: it goes into the journal and stays there. */
export async function withoutSecrets<Told extends Partial<Record<(typeof WORDS)[number], unknown>>>(
  told: Told,
  paths: Pick<ProfilePaths, 'directory'>,
): Promise<Told> {
  const words = WORDS.flatMap((name) => {
    const text = told[name]
    return typeof text === 'string' ? [[name, text] as const] : []
  })
  return { ...told, ...(await keptWords(Object.fromEntries(words), paths)) }
}

/** What may be kept of words that somebody said. */
export async function keptWords(
  words: Readonly<Record<string, string>>,
  paths: Pick<ProfilePaths, 'directory'>,
): Promise<Record<string, string>> {
  const kept = { ...words }
  const suspects = Object.entries(words).filter(([, text]) => mayHoldSecret(text))
  if (suspects.length > 0) {
    const { filterText } = await import('../privacy/index.js')
    for (const [name, text] of suspects) kept[name] = filterText(text).text
  }
  return withoutPurged(kept, paths)
}

/** Keeps purged text out of what is recorded later. If nothing was ever purged, nothing is loaded. */
export async function withoutPurged<Told extends Record<string, unknown>>(
  told: Told,
  { directory }: Pick<ProfilePaths, 'directory'>,
): Promise<Told> {
  const root = dirname(dirname(directory))
  if (purgeStamp(root) === '') return told
  const { PurgeList } = await import('./purge-list.js')
  try {
    // Everything in it is somebody else's: no name in it is one of ours.
    return (new PurgeList(root).purgeFilter()?.forgetter.json(told, '', true).value ?? told) as Told
  } catch (error) {
    if ((error as { code?: string }).code !== 'bad-input') throw error
    return {} as Told // a pattern that takes too long on it may fit
  }
}
