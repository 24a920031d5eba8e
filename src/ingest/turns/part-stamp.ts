const PART = 'part of '

/** The stamp under which a part of a log is stored. No log has it, so the rest is read the next time if this process does not get to it. */
export const partStamp = (stamp: string): string => `${PART}${stamp}`

/** Whether only a part of a log was stored. */
export const isPart = (stamp: string): boolean => stamp.startsWith(PART)
