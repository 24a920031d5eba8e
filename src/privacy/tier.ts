/** How much of a tool call is kept, the most open first. */
export const TIERS = ['full', 'redacted', 'metadata', 'none'] as const
export type Tier = (typeof TIERS)[number]

/** What is kept of the two halves of a call: what the tool was asked, and what it answered. */
export interface CallTiers {
  readonly arguments: Tier
  readonly result: Tier
}

export const isTier = (text: unknown): text is Tier => TIERS.includes(text as Tier)
export const stricterTier = (a: Tier, b: Tier): Tier => (TIERS.indexOf(a) >= TIERS.indexOf(b) ? a : b)
export const stricterTiers = (a: CallTiers, b: CallTiers): CallTiers => ({
  arguments: stricterTier(a.arguments, b.arguments),
  result: stricterTier(a.result, b.result),
})
/** Whether any of the words is kept. */
export const keepsWords = (tier: Tier): boolean => tier === 'full' || tier === 'redacted'
