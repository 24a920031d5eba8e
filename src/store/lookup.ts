import type { Awaitable, LocalIndex, SessionIndex } from '../index/index.js'

type Question = (index: SessionIndex) => Awaitable<unknown>

/**
 * A look-up whose questions depend on the answers before. It is written once, as a generator: readers await its answers, wherever they
 * come from, and a change runs it at once, inside its transaction.
 */
export type Lookup<T> = Generator<Question, T, unknown>

/** One question of a look-up: `const session = yield* ask((index) => index.get(id))`. */
export function* ask<T>(question: (index: SessionIndex) => Awaitable<T>): Lookup<T> {
  return (yield question) as T
}

/** Answers that come at once are not waited for: between two of them nobody replaces the index. */
export function answered<T>(lookup: Lookup<T>, index: LocalIndex): T
export function answered<T>(lookup: Lookup<T>, index: SessionIndex): Awaitable<T>
export function answered<T>(lookup: Lookup<T>, index: SessionIndex): Awaitable<T> {
  return goOn(lookup, lookup.next(), index)
}

function goOn<T>(lookup: Lookup<T>, from: IteratorResult<Question, T>, index: SessionIndex): Awaitable<T> {
  let step = from
  while (!step.done) {
    const answer = step.value(index)
    if (answer instanceof Promise) return answer.then((value) => goOn(lookup, lookup.next(value), index))
    step = lookup.next(answer)
  }
  return step.value
}
