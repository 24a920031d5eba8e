import type { Span } from '../mark.js'
import { isPlaceholder } from './plausible-value.js'
import type { Rule } from './rule.js'

/** A value on a command line: between quotes, also escaped ones, or up to a blank. A quote that is escaped ends it, too. */
const VALUE = String.raw`(?:(?<quote>\\{0,3}["'])(?<quoted>(?:(?!\k<quote>)[^\n]){1,200})|(?<bare>(?:[^\s"'\\]|\\(?!["'\n])){1,200}))`
/** Between a flag and its value: a blank, a sign, or what separates two items of a list. */
const GAP = String.raw`(?:[ \t=]{1,3}|\\{0,3}", ?(?=\\{0,3}"))`
/** Before a flag: a blank, or the quote that opens an item of a list. */
const OPEN = String.raw`[\s"]`
const flag = (names: string, between: string = GAP, before = ''): RegExp =>
  new RegExp(`${OPEN}(?:${names})${between}${before}${VALUE}`, 'dy')
const USER = String.raw`\\{0,3}["']?[^\s:"'\\]{0,80}:`

/** Programs that take a password behind a short flag, and the flag: a long one says by itself what it is. */
const COMMANDS: readonly { programs: readonly string[]; flag: RegExp }[] = [
  { programs: ['curl'], flag: flag('-[a-zA-Z]{0,6}u|--user|--proxy-user', `(?:${GAP})?`, USER) },
  { programs: ['curl '], flag: flag('-b|--cookie', GAP, String.raw`\\{0,3}["']?[A-Za-z0-9_.-]{1,64}=(?=[^\s"']{16})`) },
  { programs: ['http '], flag: flag('-a|--auth', GAP, USER) },
  { programs: ['sshpass'], flag: flag('-pw?', `(?:${GAP})?`) },
  { programs: ['mysql', 'mariadb'], flag: flag('-p', '') },
  { programs: ['docker login', 'podman login', 'az login', '"login",'], flag: flag('-[pP]') },
  { programs: ['mongo'], flag: flag('-p') },
  { programs: ['redis-cli'], flag: flag('-a') },
  { programs: ['ldapsearch', 'ldapadd', 'ldapmodify', 'ldapdelete', 'ldapwhoami'], flag: flag('-w') },
  { programs: ['smbclient'], flag: flag('-U', `(?:${GAP})?`, String.raw`\\{0,3}["']?[^\s%"']{1,80}%`) },
  { programs: ['sqlcmd', 'mosquitto_'], flag: flag('-P', `(?:${GAP})?`) },
  { programs: ['zip -', 'unzip'], flag: flag('-P') },
  { programs: ['7z a ', '7z x ', '7za ', '7z e '], flag: flag('-p', '') },
  { programs: ['openssl'], flag: flag('-[kK]') },
  { programs: ['ssh-keygen'], flag: flag('-[NP]') },
  {
    programs: ['htpasswd'],
    flag: flag('-[a-zA-Z]{0,4}b[a-zA-Z]{0,4}', String.raw`(?:[ \t]{1,3}[^\s"'-][^\s"']{0,200}){1,2}[ \t]{1,3}`),
  },
  { programs: ['ConvertTo-SecureString'], flag: flag('-String[ \\t]{1,3}|', '(?!-)') },
  { programs: ['gh secret set'], flag: flag('-b|--body', `(?:${GAP})?`) },
]
/** How much of a command is read behind the program's name. */
const REACH = 600
/** Where nothing was found, programs named within this are not looked at again: what they could reach has been read. */
const READ_AHEAD = 300

const FLAG_RULES: readonly Rule[] = COMMANDS.map(({ programs, flag: pattern }) => ({
  name: 'command-password',
  anchors: programs.map((text) => ({ text, anyCase: false })),
  match(text, at, reached) {
    // The same flag belongs to the first of several names before it.
    if (at < reached) return undefined
    const limit = Math.min(text.length, at + REACH + READ_AHEAD)
    for (let from = at; from < limit; from += 1) {
      const code = text.charCodeAt(from)
      // A command goes on behind a line that ends in a backslash.
      if (code === 10 && text[from - 1] !== '\\') return from
      if (code !== 32 && code !== 9 && code !== 34) continue
      pattern.lastIndex = from
      const span = valueIn(pattern.exec(text))
      if (span !== undefined && !isPlaceholder(text.slice(span.start, span.end))) return span
    }
    return at + READ_AHEAD
  },
}))

/** Programs that read a password from their input. */
const READERS = ['sudo -S', 'sudo -k', '--password-stdin', 'chpasswd', 'passwd --stdin', 'kinit', '--passphrase-fd 0']
const PIPED = new RegExp(
  String.raw`(?:echo|printf)(?:[ \t]+-[neE]{1,3})?(?:[ \t]+["']?%s(?:\\n)?["']?)?[ \t]+${VALUE}["']?[ \t]*\|[^|\n]{0,120}$`,
  'd',
)
const HERE_STRING = new RegExp(String.raw`[^\n|]{0,200}<<<[ \t]*${VALUE}`, 'dy')

/** `echo hunter2 | sudo -S ls`: what is piped, or given as a here-string, to a program that reads a password. */
const PIPE_RULE: Rule = {
  name: 'piped-password',
  anchors: READERS.map((text) => ({ text, anyCase: false })),
  match(text, at) {
    const from = Math.max(0, at - 400)
    const piped = valueIn(PIPED.exec(text.slice(from, at)))
    HERE_STRING.lastIndex = at
    const span = piped ? { start: piped.start + from, end: piped.end + from } : valueIn(HERE_STRING.exec(text))
    if (span === undefined || isPlaceholder(text.slice(span.start, span.end))) return undefined
    return span
  },
}

function valueIn(found: RegExpExecArray | null): Span | undefined {
  const span = found?.indices?.groups?.quoted ?? found?.indices?.groups?.bare
  return span && { start: span[0], end: span[1] }
}

export const COMMAND_RULES: readonly Rule[] = [...FLAG_RULES, PIPE_RULE]
