import type { TextCheck } from '../run/tool-runner.js'

/** What a tool does with the beginning of a text, where it is not a prompt: `!` runs a command in most of them. */
export interface LeadingSign {
  readonly sign: string
  /** What the tool would do: "run it as a shell command". */
  readonly does: string
  /** A space in front makes a prompt of it, which was tried with the real program. */
  readonly spaceHelps?: boolean
}

/** How a tool reads what is typed into it. */
export interface TypingRules {
  readonly signs: readonly LeadingSign[]
  /** An end after which Enter does not send: a space is put behind it. */
  readonly openEnd?: RegExp
}

const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/

/** The checks that all tools share: something to say, no keys in disguise, no beginning that is a command. */
export function checkPrompt(tool: string, text: string, { signs, openEnd }: TypingRules): TextCheck {
  // What a program makes of a tab in its input differs; four spaces arrive as they are.
  const plain = text.replace(/\r\n?/g, '\n').replaceAll('\t', '    ')
  if (plain.trim() === '') return { kind: 'refused', because: 'The text is empty', next: 'Enter some text to send' }
  const control = CONTROL.exec(plain)
  if (control) {
    const code = control[0].charCodeAt(0).toString(16).padStart(2, '0')
    return {
      kind: 'refused',
      because: `The text contains a control character (0x${code}), which a terminal takes as a key`,
      next: 'Remove it; send single keys with: skein keys',
    }
  }
  const closed = openEnd?.test(plain) ? `${plain} ` : plain
  const first = closed.trimStart()
  const sign = signs.find((one) => first.startsWith(one.sign))
  if (!sign) return { kind: 'ok', text: closed }
  if (sign.spaceHelps) return { kind: 'ok', text: ` ${first}` }
  return {
    kind: 'refused',
    because: `${tool} takes a text that starts with ${sign.sign} as a command: it would ${sign.does}`,
    next: 'Put a word before it, or attach and type it yourself',
  }
}
