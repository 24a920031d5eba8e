/** Characters from a seed: the same list in every run, and nothing in the repository that looks like a live credential. */
export class Random {
  #state: number
  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = this.#state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit
  }

  from(alphabet: string, count: number): string {
    let made = ''
    while (made.length < count) made += alphabet[this.below(alphabet.length)]
    return made
  }

  hex = (count: number): string => this.from('0123456789abcdef', count)
  digits = (count: number): string => this.from('0123456789', count)
  upper = (count: number): string => this.from('ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789', count)
  lower = (count: number): string => this.from('abcdefghijklmnopqrstuvwxyz0123456789', count)
  word = (count: number): string => this.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789', count)
  urlSafe = (count: number): string =>
    this.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_', count)
  base64 = (count: number): string =>
    this.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/', count)
  uuid = (): string => `${this.hex(8)}-${this.hex(4)}-4${this.hex(3)}-a${this.hex(3)}-${this.hex(12)}`
  password = (count: number): string => this.from('abcdefghjkmnpqrstuvwxyzABCDEFGHJKMNPQRSTUVWXYZ23456789!*+.^~', count)
}
