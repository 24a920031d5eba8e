type Present<T> = { [Key in keyof T]?: Exclude<T[Key], undefined> }

/** The fields that have a value: an absent fact must not write over a known one. */
export function withValues<T extends object>(fields: T): Present<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Present<T>
}
