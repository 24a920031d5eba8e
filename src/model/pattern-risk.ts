/** What can make a regular expression take for ever: JavaScript's engine backtracks. */
export interface PatternRisk {
  /** How many repetitions have no limit, or a wide one. */
  repetitions: number
  /** A group is repeated so. */
  repeatsGroup: boolean
  /** A group is repeated so that holds such a repetition itself. */
  isNested: boolean
  /** A group is repeated so that holds alternatives. */
  repeatsAlternatives: boolean
  hasBackReference: boolean
}

/** `{3}` and `{0,9}` cost little; `{2,}` and `{1,400}` are as open as a star. */
const WIDE = 10
const TOKENS = /\\.|\[(?:\\.|[^\]\\])*\]|\(\?(?:<?[=!]|:|<\w+>)|[()|]|[*+]|\{(\d*)(,?)(\d*)\}/gsu

interface Group {
  repeats: boolean
  chooses: boolean
}

/** Looks at the text of a pattern alone, so it may be too careful. Whoever runs patterns decides what of it to refuse. */
export function patternRisk(source: string): PatternRisk {
  const risk: PatternRisk = {
    repetitions: 0,
    repeatsGroup: false,
    isNested: false,
    repeatsAlternatives: false,
    hasBackReference: false,
  }
  const open: Group[] = [{ repeats: false, chooses: false }]
  let closed: (Group & { end: number }) | undefined
  for (const { 0: token, 1: least, 2: comma, 3: most, index } of source.matchAll(TOKENS)) {
    const group = open.at(-1) as Group
    if (isOpen(token, comma === '' ? least : most)) {
      risk.repetitions += 1
      group.repeats = true
      if (closed?.end === index) {
        risk.repeatsGroup = true
        risk.isNested ||= closed.repeats
        risk.repeatsAlternatives ||= closed.chooses
      }
    } else if (token === '|') group.chooses = true
    else if (token.startsWith('(')) open.push({ repeats: false, chooses: false })
    else if (/^\\[1-9k]/.test(token)) risk.hasBackReference = true
    closed = token === ')' && open.length > 1 ? { ...closing(open), end: index + 1 } : undefined
  }
  return risk
}

const isOpen = (token: string, times: string | undefined): boolean =>
  token === '*' || token === '+' || (token.startsWith('{') && Number(times || Number.POSITIVE_INFINITY) > WIDE)

/** What is in a group is in those around it as well. */
function closing(open: Group[]): Group {
  const inner = open.pop() as Group
  const around = open.at(-1) as Group
  around.repeats ||= inner.repeats
  around.chooses ||= inner.chooses
  return inner
}
