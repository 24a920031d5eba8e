/** What people and programs say of a session in words of their own. Everything else is a name or a number that is needed as it is. */
const WORDS = ['title', 'subject', 'message', 'reason', 'branch'] as const

/** Without any of these in it no rule finds anything. The rules take 50 ms to load, and most titles are a few words. */
const MAY_HOLD_A_SECRET = /[:=]|pass|pwd|secret|token|key|(?=\S*[0-9])\S{16,}/i

/** The same without secrets: it goes into the journal and stays there. */
export async function withoutSecrets<Told extends Partial<Record<(typeof WORDS)[number], unknown>>>(
  told: Told,
): Promise<Told> {
  const suspects = WORDS.flatMap((name) => {
    const text = told[name]
    return typeof text === 'string' && MAY_HOLD_A_SECRET.test(text) ? [[name, text] as const] : []
  })
  if (suspects.length === 0) return told
  const { filterText } = await import('../privacy/index.js')
  return { ...told, ...Object.fromEntries(suspects.map(([name, text]) => [name, filterText(text).text])) }
}
