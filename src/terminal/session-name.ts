import { SkeinError } from '../model/index.js'
import { KEEPER } from './server.js'

/**
 * Refuses what tmux would change or take for something else: `.` and `:` separate the parts of a target, `$1`, `@1` and `%1` are
 * ids, `=`, `-`, `+`, `!`, `{` and `~` have meanings in front, and control characters would be shown as escapes.
 */
export function checkSessionName(name: string): string {
  const reason =
    name === ''
      ? 'it is empty'
      : name === KEEPER
        ? 'it is used by Skein itself'
        : Buffer.byteLength(name) > 200
          ? 'it is longer than 200 bytes'
          : /[.:]/.test(name)
            ? '"." and ":" separate sessions from windows in tmux'
            : /^[=@%{~+!-]/.test(name)
              ? `tmux treats a leading "${name[0]}" specially`
              : /[\p{Cc}\p{Cs}\p{Cf}\p{Zl}\p{Zp}]/u.test(name)
                ? 'it contains invisible characters'
                : /[\\*?[\]$]/.test(name)
                  ? 'tmux treats "\\", "*", "?", "[", "]" and "$" specially'
                  : undefined
  if (reason === undefined) return name
  throw new SkeinError(
    'bad-input',
    `${JSON.stringify(name)} cannot name a tmux session: ${reason}.`,
    'Use letters, digits, "-" and "_"',
  )
}

/** Exactly this session: without `=`, tmux takes any whose name begins so, or matches it as a pattern. */
export const exactly = (session: string): string => `=${checkSessionName(session)}:`
