/** What people and programs say of a session in words of their own. Everything else is a name or a number that is needed as it is. */
const WORDS = ['title', 'subject', 'message', 'reason', 'branch'] as const

/**
 * Without any of these in it no rule finds anything: a word that names one, an option of a command, or a long word with digits or odd
 * capitals, as some tokens are made of letters alone. The rules take 50 ms to load, and most titles are a few words.
 */
const NAMES_A_SECRET = /[:=]|\s-[a-z]|pass|pwd|secret|token|key/i
const LONG_AND_ODD = /(?=\S*(?:[0-9]|[a-z][A-Z]|[A-Z]{2}))\S{16,}/
const mayHoldSecret = (text: string): boolean => NAMES_A_SECRET.test(text) || LONG_AND_ODD.test(text)

/** The same without secrets: it goes into the journal and stays there. */
export async function withoutSecrets<Told extends Partial<Record<(typeof WORDS)[number], unknown>>>(
  told: Told,
): Promise<Told> {
  const suspects = WORDS.flatMap((name) => {
    const text = told[name]
    return typeof text === 'string' && mayHoldSecret(text) ? [[name, text] as const] : []
  })
  if (suspects.length === 0) return told
  const { filterText } = await import('../privacy/index.js')
  return { ...told, ...Object.fromEntries(suspects.map(([name, text]) => [name, filterText(text).text])) }
}
