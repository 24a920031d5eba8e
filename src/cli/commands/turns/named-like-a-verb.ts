/** The verbs of `turns` are allowed as names of agents. Where more words follow, their order tells which is meant. */
export const NAMED_LIKE_A_VERB =
  'For an agent that is named note, pin or unpin, write options before its name (skein turns --turn 2 pin), or use its id or that of its session.'
