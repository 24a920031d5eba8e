import type { EverydayForm } from './forms.js'

/** How a form reaches us: the same text for a person, other characters for a program. */
export const SPELLINGS = [
  'plain',
  'coloured',
  'JSON-escaped',
  'coloured and JSON-escaped',
  'hidden characters',
] as const
export type Spelling = (typeof SPELLINGS)[number]

const ESC = '\u001b'
/** What GNU grep writes around a match. */
const grep = (text: string): string => `${ESC}[01;31m${ESC}[K${text}${ESC}[m${ESC}[K`
/** What ripgrep writes. */
const ripgrep = (text: string): string => `${ESC}[0m${ESC}[1m${ESC}[31m${text}${ESC}[0m`

const coloured = ({ text, secret }: EverydayForm): string[] => {
  const shown = secret.slice(0, 4)
  const middle = secret.slice(Math.floor(secret.length / 2), Math.floor(secret.length / 2) + 3)
  return [
    text.split(shown).join(grep(shown)),
    text.split(middle).join(ripgrep(middle)),
    // grep -i for the name
    text.replace(/pass(?:word)?|pwd|token|secret|api|key|auth|login/gi, grep),
    // bat, pygmentize, jq -C: every word and every sign has its colour
    text.replace(/[A-Za-z0-9_]+|[^A-Za-z0-9_\s]+/g, (part) => `${ESC}[38;2;249;38;114m${part}${ESC}[0m`),
    // a link, as ls --hyperlink and delta write it
    text.split(shown).join(`${ESC}]8;;file://host/etc/app.conf${ESC}\\${shown}${ESC}]8;;${ESC}\\`),
  ]
}

const json = (text: string): string => JSON.stringify(text).slice(1, -1)

/** All that must hold for a form in this spelling. */
export function spelled(form: EverydayForm, spelling: Spelling): string[] {
  const [first = '', , , syntax = ''] = coloured(form)
  switch (spelling) {
    case 'plain':
      return [form.text]
    case 'coloured':
      return coloured(form)
    case 'JSON-escaped':
      return [json(form.text), json(json(form.text))]
    case 'coloured and JSON-escaped':
      return [
        json(first),
        json(json(first)),
        json(syntax),
        first.replaceAll(ESC, '\\x1b'),
        first.replaceAll(ESC, '\\033'),
        first.replaceAll(ESC, '\\e'),
      ]
    case 'hidden characters': {
      const at = Math.floor(form.secret.length / 2)
      const [head, tail] = [form.secret.slice(0, at), form.secret.slice(at)]
      const bold = Array.from(form.secret, (letter) => `${letter}\b${letter}`).join('')
      const wide = Buffer.from(`settings\n${form.text}`, 'utf16le').toString('latin1')
      return ['\u200b', '\u2060', '\ufeff', '\u00ad', '\u0001']
        .map((sign) => form.text.split(form.secret).join(head + sign + tail))
        .concat(form.text.split(form.secret).join(bold), wide)
    }
  }
}

const HIDDEN = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u200b-\u200f\u2060\ufeff]/g
const SEQUENCES =
  /(?:\x1b|\\{1,3}(?:u001b|x1b|033|e))(?:\[[0-9;]*[A-Za-z]|\][^\x1b\\]*(?:\x1b|\\{1,3}(?:u001b|x1b))\\{1,4})/g

/**
 * Whether eight characters in a row of the secret can be read: by a person, or by somebody who undoes the escapes. The names of
 * rules are left aside.
 */
export function leaks(secret: string, redacted: string): boolean {
  const seen = redacted
    .replace(/\[REDACTED(?::[a-z-]+)?\]/g, '[]')
    .replace(SEQUENCES, '')
    .replace(/[^\n]\x08/g, '')
    .replace(HIDDEN, '')
  const plain = seen
    .replace(/\\{1,7}u([0-9a-fA-F]{4})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replace(/\\{1,7}(["'/])/g, '$1')
  const piece = Math.min(8, secret.length)
  for (let at = 0; at + piece <= secret.length; at += 1) {
    const part = secret.slice(at, at + piece)
    if (seen.includes(part) || plain.includes(part)) return true
  }
  return false
}
