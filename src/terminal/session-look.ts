import { commandLine, forMessage } from './command-line.js'

/** How a tmux session looks and what its programs find in its environment. */
export interface SessionLook {
  /** Variables of the session, for what is opened in it later; undefined removes one. Never secrets: every client can list them. */
  readonly environment?: Readonly<Record<string, string | undefined>>
  readonly theme?: Theme
}

/** Colours of the status line, and a text at its left. */
export interface Theme {
  readonly bg: string
  readonly fg: string
  /** Any text: it is shown as it is. */
  readonly label?: string
}

const COLOUR =
  /^(?:#[0-9a-fA-F]{6}|colour(?:\d{1,2}|1\d\d|2[0-4]\d|25[0-5])|default|(?:bright)?(?:black|red|green|yellow|blue|magenta|cyan|white))$/
/** Whether tmux takes it for a colour: nothing else may get into a style. */
export const isColour = (text: string): boolean => COLOUR.test(text)

const LABEL_COLUMNS = 60

/** The commands that give a session its look. `target` is a session or one of its panes. */
export function lookCommands(target: string, { environment = {}, theme }: SessionLook): string[] {
  const variables = Object.entries(environment).map(([name, value]) =>
    value === undefined
      ? commandLine('set-environment', '-u', '-t', target, '--', variable(name))
      : commandLine('set-environment', '-t', target, '--', variable(name), value),
  )
  return [...variables, ...(theme ? themeCommands(target, theme) : [])]
}

function themeCommands(target: string, { bg, fg, label }: Theme): string[] {
  if (!isColour(bg) || !isColour(fg)) throw new RangeError(`not a colour of tmux: ${bg}, ${fg}`)
  const plain = label?.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu, ' ').trim()
  return [
    commandLine('set-option', '-q', '-t', target, 'status-style', `bg=${bg},fg=${fg}`),
    ...(plain
      ? [
          commandLine('set-option', '-q', '-t', target, 'status-left-length', String(LABEL_COLUMNS)),
          commandLine('set-option', '-q', '-t', target, 'status-left', `${forMessage(plain)} `),
        ]
      : []),
  ]
}

function variable(name: string): string {
  if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return name
  throw new RangeError(`not a name of a variable: ${name}`)
}
