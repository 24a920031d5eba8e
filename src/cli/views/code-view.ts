import type { FileChange, StoreStats } from '../../home/index.js'
import { formatBytes } from '../screen/format-bytes.js'
import { grouped } from '../screen/money.js'
import { safeText } from '../screen/safe-text.js'
import type { Screen } from '../screen/screen.js'
import { table } from '../screen/table.js'

/** A patch as git prints it, made safe: it has whatever the files have. */
export function patchView(patch: string, { paint }: Screen): string {
  const line = (text: string): string => {
    const shown = text.split('\t').map(safeText).join('\t')
    if (/^(diff|index|---|\+\+\+|similarity|rename|new file|deleted file|old mode|new mode)/.test(text))
      return paint.bold(shown)
    if (text.startsWith('@@')) return paint.cyan(shown)
    if (text.startsWith('+')) return paint.green(shown)
    return text.startsWith('-') ? paint.red(shown) : shown
  }
  return patch.replace(/\n$/, '').split('\n').map(line).join('\n')
}

/** One line per file. */
export function changesView(changes: readonly FileChange[], screen: Screen): string {
  return table(
    changes,
    [
      { header: 'CHANGE', text: ({ status }) => status },
      { header: 'LINES', text: (change) => linesOf(change), align: 'right' },
      { header: 'FILE', text: ({ path, from }) => (from === undefined ? path : `${from} -> ${path}`), shrinkTo: 20 },
    ],
    screen,
  )
}

export const linesOf = ({ added, removed }: { added?: number; removed?: number }): string =>
  added === undefined && removed === undefined ? '' : `+${grouped(added ?? 0)} -${grouped(removed ?? 0)}`

export function storesView(stores: readonly StoreStats[], screen: Screen): string {
  if (stores.length === 0) return ''
  return table(
    stores,
    [
      { header: 'REPOSITORY', text: ({ source }) => source.replace(/\/\.git$/, ''), shrinkTo: 20 },
      { header: 'SESSIONS', text: ({ sessions }) => grouped(sessions), align: 'right' },
      { header: 'SNAPSHOTS', text: ({ snapshots }) => grouped(snapshots), align: 'right' },
      { header: 'SIZE', text: ({ bytes }) => formatBytes(bytes), align: 'right' },
      { header: 'SHARED', text: ({ shared_bytes }) => formatBytes(shared_bytes), align: 'right' },
      { header: 'STATE', text: ({ is_source_there }) => (is_source_there ? '' : 'repository is gone') },
    ],
    screen,
  )
}
