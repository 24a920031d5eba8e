import { onTestFailed } from 'vitest'

/** A whole number from 0 up to, and without, a bound. */
export type Random = (below: number) => number

/** Small, seeded and the same everywhere. */
export function generator(seed: number): Random {
  let state = seed >>> 0 || 1
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

/** Another one in each run, unless SKEIN_TEST_SEED names one. */
export const SEED = Number(process.env.SKEIN_TEST_SEED) || Math.floor(Math.random() * 2 ** 31) + 1

/** What a fuzz adds to its own seeds: another number by SKEIN_FUZZ_SEED makes other damage. */
export const FUZZ_SEED = Number(process.env.SKEIN_FUZZ_SEED) || 0

/** For the test that runs now: its choices come again with the same seed, which is printed when it fails. */
export function seededRandom(): Random {
  onTestFailed(({ task }) => {
    console.error(`${task.name}: SKEIN_TEST_SEED=${SEED} makes the same choices again`)
  })
  return generator(SEED)
}

/** Waits some milliseconds below a bound: for what is to be hit at any moment. */
export const someTime = (random: Random, below: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, random(below)))

export function inAnyOrder<T>(items: readonly T[], random: Random): T[] {
  const left = [...items]
  return items.map(() => left.splice(random(left.length), 1)[0] as T)
}
