import type { OperationContext } from './context.js'
import type { Fields, Values } from './field.js'
import type { ShapeName } from './shapes.js'

/**
 * One thing that a user can do, declared once. Commands, HTTP routes, the OpenAPI document and the typed client are derived from it.
 * `run` throws a `SkeinError` for what a user can cause; every face shows the same code, message and next step.
 */
export interface Operation<Declared extends Fields = Fields, Result extends object = object> {
  /** A noun and a verb, or one word: `sessions.show`, `cost`. It is part of the address under `/v1`, so it is never renamed. */
  readonly name: string
  /** Whether it only looks (GET), or changes something (POST). */
  readonly does: 'reads' | 'acts'
  /**
   * Where a command runs it. `daemon`: in the daemon if one runs, because that knows agents already and is connected to tmux.
   * `either`: in the command itself, which is faster for what is read from files.
   */
  readonly where: 'daemon' | 'either'
  /** It computes for long: the daemon runs it in a process of its own, so that others get their answers meanwhile. */
  readonly isHeavy?: boolean
  /** Imperative, without a full stop. */
  readonly summary: string
  readonly description?: string
  readonly input: Declared
  /** The shape of the result, in `shapes.ts`; several where it depends on the input. */
  readonly result: ShapeName | readonly ShapeName[]
  run(input: Values<Declared>, context: OperationContext): Promise<Result>
}

/** Declares an operation; its input and result are typed after the declaration. */
export const operation = <Declared extends Fields, Result extends object>(
  declared: Operation<Declared, Result>,
): Operation<Declared, Result> => declared
