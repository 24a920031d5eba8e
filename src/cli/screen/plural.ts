import { grouped } from './money.js'

/** `1 session`, `2,000 sessions`. */
export const plural = (count: number, noun: string): string => `${grouped(count)} ${noun}${count === 1 ? '' : 's'}`
