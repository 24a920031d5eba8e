/** How a session ended. The first four are the seeds'; `exit` left by its user, `clear` replaced inside the same process, `lost` gone with no witness. */
export const OUTCOMES = ['done', 'handoff', 'crash', 'killed', 'exit', 'clear', 'lost'] as const
export type Outcome = (typeof OUTCOMES)[number]
export const isOutcome = (text: unknown): text is Outcome => OUTCOMES.includes(text as Outcome)

/** Why a session continues another one in the same chain. */
export const LINKS = ['handoff', 'crash', 'clear', 'compact'] as const
export type Link = (typeof LINKS)[number]
export const isLink = (text: unknown): text is Link => LINKS.includes(text as Link)

/** What a predecessor that was still active is taken to have ended with. */
export const OUTCOME_OF_LINK: Readonly<Record<Link, Outcome>> = {
  handoff: 'handoff',
  crash: 'crash',
  clear: 'clear',
  compact: 'handoff',
}
