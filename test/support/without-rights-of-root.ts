/**
 * Put before a command: root without the right to pass every door is a user like any other, who can still read the checkout, wherever it is.
 * Nothing is unreadable for root with that right.
 */
export const withoutRightsOfRoot: readonly string[] =
  process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-dac_override,-dac_read_search'] : []
