import { execFile } from 'node:child_process'
import { tmuxMissing } from './trouble.js'

/**
 * The oldest tmux with all that is used here: client flags `no-output` and `ignore-size` on attach, `-N` (never start a server),
 * `if-shell -F`, `display-message -d`, `copy-mode -q`, arithmetic in formats (`#{e|+|:}`), `remain-on-exit` per pane.
 * What came later is asked for quietly and not relied on: `pane_dead_signal` and `allow-passthrough` (3.3).
 */
const OLDEST = { major: 3, minor: 2 }

export interface TmuxVersion {
  /** As tmux says it: `3.3a`, `next-3.7`. */
  readonly text: string
}

/** Throws `tmux-missing` when tmux is not there or too old for what is used here. */
export async function checkTmux(
  options: { readonly executable?: string; readonly environment?: Readonly<Record<string, string | undefined>> } = {},
): Promise<TmuxVersion> {
  const executable = options.executable ?? 'tmux'
  const said = await new Promise<string>((resolve, reject) => {
    execFile(executable, ['-V'], { env: options.environment, timeout: 5_000 }, (error, stdout) => {
      if (error && 'code' in error && (error.code === 'ENOENT' || error.code === 'EACCES'))
        reject(tmuxMissing(`${executable} is not installed; agents run in it.`))
      else if (error) reject(tmuxMissing(`"${executable} -V" failed: ${error.message.split('\n')[0]}`))
      else resolve(stdout.trim())
    })
  })
  const text = said.replace(/^tmux /, '')
  const [, major, minor] = /(\d+)\.(\d+)/.exec(text) ?? []
  // A build without a number (`master`) is newer than any release, and OpenBSD's has the number of the system.
  const isTooOld =
    major !== undefined &&
    !text.startsWith('openbsd') &&
    (Number(major) < OLDEST.major || (Number(major) === OLDEST.major && Number(minor) < OLDEST.minor))
  if (isTooOld) throw tmuxMissing(`${said} is too old.`)
  return { text }
}
