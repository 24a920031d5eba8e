import { SkeinError } from '../model/index.js'
import type { Key } from './terminal.js'

const NAMED =
  /^((C|M|S)-){0,3}(Enter|Escape|Tab|BTab|Space|BSpace|Up|Down|Left|Right|Home|End|PageUp|PPage|PageDown|NPage|Insert|IC|Delete|DC|F[1-9]|F1[0-2])$/
const CHORD = /^((C|M)-){1,2}[\x21-\x7e]$/

/** How tmux is to send it: by name, or as the character it is. tmux types out names it does not know, so those are refused. */
export function keyArguments(key: Key): { readonly literal: boolean; readonly word: string } {
  if (NAMED.test(key) || CHORD.test(key)) return { literal: false, word: key }
  if ([...key].length === 1 && !/[\p{Cc}\p{Cs}]/u.test(key)) return { literal: true, word: key }
  throw new SkeinError(
    'bad-key',
    `${JSON.stringify(key)} is not a key.`,
    'Use one character, or a name such as Enter, Escape, Tab, Up, PageDown, F5, C-c, M-x',
  )
}
