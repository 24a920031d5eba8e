/** Dollars as people read them: cents from a cent up, more digits for less. What has no known price is never shown as nothing. */
export function money({ micro_usd, unpriced_calls }: { micro_usd: number; unpriced_calls: number }): string {
  if (micro_usd === 0 && unpriced_calls > 0) return 'unknown'
  const dollars = micro_usd / 1_000_000
  const digits = dollars === 0 || dollars >= 0.01 ? 2 : 4
  const [whole = '0', cents = ''] = dollars.toFixed(digits).split('.')
  return `$${grouped(Number(whole))}.${cents}${unpriced_calls > 0 ? ' + unknown' : ''}`
}

/** 1,234,567 */
export const grouped = (count: number): string => String(count).replace(/\B(?=(\d{3})+$)/g, ',')
