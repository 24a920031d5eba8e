/** Something that is not a file, or not one that may be read whole. The code says what it is, in words that fit after "it is". */
export class UnsuitableFile extends Error {
  constructor(
    readonly path: string,
    readonly code: string,
    /** What its user can do about it. */
    readonly next = 'Move it away, then try again',
  ) {
    super(`${path} is ${code}`)
  }
}
