import type { CodeChange, FileChange, Home, SessionCode, SessionHistory } from '../../home/index.js'
import { SkeinError } from '../../model/index.js'

/** What a turn did to the code, as rows show it. */
export interface CodeDocument {
  files: number
  added: number
  removed: number
  head_moved: boolean
  is_partial: boolean
  changes?: FileChange[]
}

export interface EditDocument extends CodeDocument {
  kind: 'edit'
  after_turn: number
}

/** With the files where they were asked for. */
export const codeDocument = ({ changes, ...counted }: CodeChange, withFiles: boolean): CodeDocument => ({
  files: counted.files,
  added: counted.added,
  removed: counted.removed,
  head_moved: counted.head_moved,
  is_partial: counted.is_partial,
  ...(withFiles ? { changes } : {}),
})

export const editDocuments = ({ edits }: SessionCode, withFiles: boolean): EditDocument[] =>
  edits.map((edit) => ({ kind: 'edit', after_turn: edit.after_turn, ...codeDocument(edit, withFiles) }))

/** The code of a session; without any where the snapshots cannot be read: its turns can be shown all the same. */
export async function codeOf(home: Home, history: SessionHistory): Promise<SessionCode> {
  try {
    return await home.history.code(history)
  } catch (error) {
    if (error instanceof SkeinError && error.code === 'git-missing') return { coded: [], turns: new Map(), edits: [] }
    throw error
  }
}

/** Only the turns and edits that touched a file, or something in a directory. */
export function onlyFiles(
  history: SessionHistory,
  code: SessionCode,
  path: string | undefined,
): { history: SessionHistory; code: SessionCode } {
  if (path === undefined) return { history, code }
  const wanted = path.replace(/^\.\//, '').replace(/\/+$/, '')
  const isWanted = (one: string | undefined): boolean => one === wanted || one?.startsWith(`${wanted}/`) === true
  const touches = (change: CodeChange | undefined): boolean =>
    change?.changes.some(({ path: own, from }) => isWanted(own) || isWanted(from)) ?? false
  return {
    history: { ...history, turns: history.turns.filter(({ number }) => touches(code.turns.get(number))) },
    code: { ...code, edits: code.edits.filter(touches) },
  }
}
