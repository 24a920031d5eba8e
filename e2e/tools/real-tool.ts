import type { Action } from '../model-server/actions.js'
import type { ModelServer } from '../model-server/model-server.js'
import type { Scratch } from '../scratch.js'

/** A pinned program, as a user would have set it up who has our model server for a provider. */
export interface RealTool {
  readonly name: string
  readonly version: string
  /** Writes the user's settings and returns the user's environment. Afterwards the program starts without a question. */
  setUp(scratch: Scratch, server: ModelServer): Record<string, string>
  /** How the program is started by hand. */
  readonly argv: readonly [string, ...string[]]
  /** What its screen shows when it can be typed to. */
  readonly ready: RegExp
  /** Something it does without asking. */
  readonly doesFreely: Action
  /** What a provider can say so that the program gives up at once, with the trouble that this is. */
  readonly refusal: { readonly status: number; readonly message: string; readonly trouble: string }
  /** How its user begins another conversation by hand; a dialog that it then shows is answered with Enter. */
  readonly another: { readonly command: string; readonly asksWhere?: true }
  /** Sets it up like `setUp`, in a directory that its user has not trusted yet; a text says why it never asks. */
  readonly untrusted: ((scratch: Scratch, server: ModelServer) => Record<string, string>) | string
  /** Something it asks its user about before it does it, with the settings above; absent when it never asks. */
  readonly asksAbout?: Action
}
