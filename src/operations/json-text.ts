// Valid inside JSON strings, yet able to act on a terminal or to break a reader that splits lines.
const RISKY = /[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

/** One document, for people and programs alike. */
export const jsonDocument = (value: unknown): string => JSON.stringify(value, undefined, 2).replace(RISKY, escaped)

/** One document on one line, for streams. */
export const jsonLine = (value: unknown): string => JSON.stringify(value).replace(RISKY, escaped)
